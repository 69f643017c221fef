/** Settings from the environment: the only code that reads process.env, with all defaults and limits in one table. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Brand } from '@/lib/brand'
import { CRASH_POINT_PATTERN } from '@/lib/crash-point'
import type { Fault } from '@/lib/fault'
import { readVariable } from '@/lib/file-variable'
import { LOG_LEVELS, type LogLevel } from '@/lib/logger'
import { oneOf } from '@/lib/schemas'
import type { TelemetrySettings } from '@/lib/telemetry-settings'
import { SHARED } from '@/limits/shared-resources'
import { BRAND_VARIABLES, brandFaults, toBrand } from './brand'
import { SIGN_IN_VARIABLES, type SignInSettings, signInFaults, toSignIn } from './sign-in'
import { hostOf, NODE_ENVS, offersDemoAccount, type Situation, situationFaults } from './situation'
import { REDIS_VARIABLES, redisFaults } from './stores'
import { TELEMETRY_VARIABLES, telemetryFaults, toTelemetry } from './telemetry'
import { FILE_VARIABLES, TOP_UP_VARIABLES, type TopUpSettings, topUpFaults, toTopUps } from './top-ups'
import { integer, optional, secret } from './variables'

/** Environment variables by name; an empty value counts as unset. */
export type Environment = Record<string, string | undefined>

/** Validated settings of one gateway. A property is undefined if its variable has no default and is unset. */
export type Config = {
  isProduction: boolean
  host: string
  /** 0: the system chooses a free port. */
  port: number
  /** Addresses of one server, of Sentinels (separated by commas), or of cluster nodes. Undefined: start an embedded server. */
  redisUrls: string[] | undefined
  redisKeyPrefix: string
  /** Undefined: start an embedded server. */
  databaseUrl: string | undefined
  /** The database URL of the role that owns the schema. Undefined: `databaseUrl` is used for both. */
  migratorUrl: string | undefined
  catalogPath: string
  dataDir: string
  /** Whether settlements are also written to a file in `dataDir` until they are in Postgres. */
  hasSettlementJournal: boolean
  /** Number of server processes that share the port. */
  processes: number
  administrator: { email: string; password: string } | undefined
  /** The service's address, without trailing slash. Undefined: taken from each request. */
  publicUrl: string | undefined
  /** The operator's own name, logo, colour and links. */
  brand: Brand
  signIn: SignInSettings
  topUps: TopUpSettings
  /** Whether a first start makes an account with free credit and shows its secrets. */
  hasDemoAccount: boolean
  administration: {
    /** USD that one administrator may move in a day over all accounts; above it, a second administrator must approve. */
    approvalLimitUsd: number
  }
  /** Access to the metrics. Production allows it only with the token. */
  metricsAccess: 'open' | 'closed' | { token: string }
  logLevel: LogLevel
  /** Settings for exporting spans and metrics. Undefined: no export. */
  telemetry: TelemetrySettings | undefined
  /** Milliseconds after SIGTERM in which requests are still served, so that proxies notice and stop sending them. */
  drainDelayMs: number
  /** Milliseconds for open requests to finish once the listener is closed. */
  shutdownTimeoutMs: number
  /** Connections per address without a running answer; infinite behind proxies. */
  connectionsPerAddress: number
  maxBodyBytes: number
  maxJsonDepth: number
  maxChatMessages: number
  /** Hours for which answers are stored so that callers can continue them (0: not stored), and the bytes per account. */
  storedResponses: { maxHours: number; maxBytes: number }
  /** Days for which files and results of batches are kept. */
  batchRetentionDays: number
  /** Milliseconds after which an unanswered Redis command, and the paid request with it, fails. */
  redisCommandTimeoutMs: number
  /** Percent of Redis' `maxmemory` (or of its machine's memory) in use above which new paid requests are refused. */
  redisFullPercent: number
  /** Milliseconds until a hold that no gateway renews expires and is charged. */
  holdTtlMs: number
  /** Milliseconds after which another process writes the usage records that a dead process had claimed. */
  recordClaimMs: number
  /** Whether `Idempotency-Key` headers are supported, with answers kept for a day. */
  hasIdempotencyKeys: boolean
  databasePoolSize: number
  /** Set by the supervisor for its server processes: the shared stores, their common name, and the supervisor's process id. */
  supervised: { redisUrl: string; databaseUrl: string; gateway: string; supervisorPid: number } | undefined
  /** Set by the supervisor: its sandbox's address. */
  sandboxUrl: string | undefined
  /** For fault tests, refused in production: where to crash, see lib/crash-point.ts. */
  crashAt: string | undefined
}

type ConfigResult = { kind: 'loaded'; config: Config } | { kind: 'faulty'; faults: Fault[] }

/** Validates the settings. Returns every fault by name; secrets are never quoted. If `situation` lacks a fact, the strict rules apply. */
export function loadConfig(environment: Environment, situation: Situation = {}): ConfigResult {
  const values: Record<string, unknown> = {}
  const faults: Fault[] = []
  for (const [name, schema] of Object.entries(Variables.properties)) {
    const { value: text, message } = textOf(environment, name)
    if (message !== undefined) {
      faults.push({ place: name, message })
      continue
    }
    if (text === undefined || text === '') {
      values[name] = schema.default
      continue
    }
    const value = schema.type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text
    if (Value.Check(schema, value)) values[name] = value
    else faults.push({ place: name, message: faultMessage(schema, text) })
  }
  for (const [first, second] of TOGETHER) {
    if ((values[first] === undefined) === (values[second] === undefined)) continue
    const missing = values[first] === undefined ? first : second
    if (!faults.some((fault) => fault.place === missing)) {
      faults.push({ place: missing, message: `is unset; ${first} and ${second} must be set together` })
    }
  }
  faults.push(...signInFaults(values, situation))
  faults.push(...brandFaults(values))
  faults.push(...topUpFaults(values))
  faults.push(...redisFaults(values))
  faults.push(...telemetryFaults(values))
  faults.push(...situationFaults(values, situation))
  if (values.NODE_ENV === 'production' && values.SANDBOX_URL !== undefined) {
    faults.push({
      place: 'SANDBOX_URL',
      message: 'NODE_ENV=production refuses the sandbox, whose answers are simulated',
    })
  }
  if (values.NODE_ENV === 'production' && values.CRASH_AT !== undefined) {
    faults.push({ place: 'CRASH_AT', message: 'NODE_ENV=production refuses it: it is for fault tests only' })
  }
  if (faults.length > 0) return { kind: 'faulty', faults }
  return { kind: 'loaded', config: toConfig(Value.Cast(Variables, values), situation) }
}

/** The variable's value, or the content of its `_FILE`, if that is allowed. */
function textOf(environment: Environment, name: string): { value?: string | undefined; message?: string } {
  return FILE_VARIABLES.includes(name) ? readVariable(environment, name) : { value: environment[name] }
}

/** The catalogue's path, even if other settings are invalid. */
export function catalogPathOf({ CATALOG: path }: Environment): string {
  return path || DEFAULT_CATALOG
}

/** The environment of this process. */
export function processEnvironment(): Environment {
  return process.env
}

/** Variables that must be set together. */
const TOGETHER = [
  ['ADMIN_EMAIL', 'ADMIN_PASSWORD'],
  ['SMTP_URL', 'MAIL_FROM'],
  ['BANK_TRANSFER_BENEFICIARY', 'BANK_TRANSFER_IBAN'],
] as const

/** The folder of embedded servers and of the settlement journal. */
export const DEFAULT_DATA_DIR = '.data'
const DEFAULT_CATALOG = 'config/catalog.json'
/** Time for proxies and the orchestrator in production to notice that a server stops; at a terminal there is no wait. */
const PRODUCTION_DRAIN_DELAY_MS = 5_000
const DRAIN_DELAY = 'milliseconds: an integer from 0 to 600000'

/** `description` completes the sentence "expected …"; `writeOnly` marks values that no message may quote. */
const Variables = Type.Object({
  // A mistyped `production` would silently disable its rules.
  NODE_ENV: optional(oneOf(NODE_ENVS, { description: NODE_ENVS.join(' or ') })),
  HOST: optional(Type.String({ pattern: '^[^\\s/]+$', description: 'a host name or address to listen on' })),
  PORT: integer(3000, 0, 65_535, 'a port'),
  ...REDIS_VARIABLES,
  DATABASE_URL: optional(secret('^postgres(ql)?://\\S+$', 'a postgres:// address')),
  DATABASE_MIGRATOR_URL: optional(secret('^postgres(ql)?://\\S+$', 'a postgres:// address')),
  CATALOG: Type.String({ default: DEFAULT_CATALOG, description: 'the path of the catalogue file' }),
  DATA_DIR: Type.String({
    default: DEFAULT_DATA_DIR,
    description: 'the folder of the embedded servers and the journal of settlements',
  }),
  SETTLEMENT_JOURNAL: oneOf(['on', 'off'], { default: 'on', description: 'on or off' }),
  PROCESSES: integer(1, 1, 256, 'a number of processes'),
  ADMIN_EMAIL: optional(
    Type.String({ pattern: '^[^\\s@]+@[^\\s@]+$', maxLength: 254, description: 'an e-mail address' }),
  ),
  ADMIN_PASSWORD: optional(secret('^.{8,256}$', 'a password of 8 to 256 characters')),
  PUBLIC_URL: optional(
    Type.String({ pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$', description: 'an http:// or https:// address' }),
  ),
  ...BRAND_VARIABLES,
  ...SIGN_IN_VARIABLES,
  ...TOP_UP_VARIABLES,
  ...TELEMETRY_VARIABLES,
  DEMO_ACCOUNT: optional(oneOf(['on', 'off'], { description: 'on or off' })),
  APPROVAL_LIMIT_USD: integer(1_000, 0, 9_000_000, 'US dollars'),
  METRICS_TOKEN: optional(secret('^[\\x21-\\x7e]{16,256}$', 'a token of 16 to 256 characters without spaces')),
  LOG_LEVEL: oneOf(LOG_LEVELS, { default: 'info', description: `one of ${LOG_LEVELS.join(', ')}` }),
  DRAIN_DELAY_MS: optional(Type.Integer({ minimum: 0, maximum: 600_000, description: DRAIN_DELAY })),
  SHUTDOWN_TIMEOUT_MS: integer(30_000, 0, 3_600_000, 'milliseconds'),
  CONNECTIONS_PER_ADDRESS: integer(SHARED.connections.perAccount, 16, 1_000_000, 'connections'),
  MAX_BODY_BYTES: integer(20 * 1024 * 1024, 1024, 256 * 1024 * 1024, 'bytes'),
  MAX_JSON_DEPTH: integer(64, 8, 1000, 'a depth'),
  MAX_CHAT_MESSAGES: integer(100, 100, 100_000, 'a number of messages'),
  STORED_RESPONSE_HOURS: integer(720, 0, 87_600, 'hours'),
  STORED_RESPONSE_MAX_MB: integer(1_024, 1, 1_000_000, 'megabytes for each account'),
  BATCH_RETENTION_DAYS: integer(30, 2, 3_650, 'days'),
  REDIS_COMMAND_TIMEOUT_MS: integer(500, 10, 60_000, 'milliseconds'),
  REDIS_FULL_PERCENT: integer(90, 10, 100, 'percent of maxmemory'),
  HOLD_TTL_MS: integer(60_000, 5_000, 3_600_000, 'milliseconds'),
  RECORD_CLAIM_MS: integer(30_000, 1_000, 3_600_000, 'milliseconds'),
  IDEMPOTENCY_KEYS: oneOf(['on', 'off'], { default: 'on', description: 'on or off' }),
  DATABASE_POOL_SIZE: integer(10, 1, 1000, 'a number of connections'),
  SUPERVISED_REDIS_URL: optional(secret('^\\S+$', 'an address')),
  SUPERVISED_DATABASE_URL: optional(secret('^\\S+$', 'an address')),
  SUPERVISED_GATEWAY: Type.String({ default: 'supervised', description: 'a name' }),
  SUPERVISED_BY: integer(1, 1, Number.MAX_SAFE_INTEGER, 'a process id'),
  SANDBOX_URL: optional(Type.String({ pattern: '^http://\\S+$', description: 'an http:// address' })),
  CRASH_AT: optional(Type.String({ pattern: CRASH_POINT_PATTERN, description: 'the name of a crash point' })),
})

function faultMessage(schema: TSchema, text: string): string {
  const found = schema.writeOnly ? 'its value (not shown) is something else' : `found ${JSON.stringify(text)}`
  return `expected ${schema.description}; ${found}`
}

function toConfig(values: Static<typeof Variables>, situation: Situation): Config {
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password } = values
  const { SUPERVISED_REDIS_URL: redisUrl, SUPERVISED_DATABASE_URL: databaseUrl } = values
  return {
    isProduction: values.NODE_ENV === 'production',
    host: hostOf(values, situation),
    port: values.PORT,
    redisUrls: values.REDIS_URL?.split(','),
    redisKeyPrefix: values.REDIS_KEY_PREFIX ?? '',
    databaseUrl: values.DATABASE_URL,
    migratorUrl: values.DATABASE_MIGRATOR_URL,
    catalogPath: values.CATALOG,
    dataDir: values.DATA_DIR,
    hasSettlementJournal: values.SETTLEMENT_JOURNAL === 'on',
    processes: values.PROCESSES,
    administrator: email !== undefined && password !== undefined ? { email, password } : undefined,
    publicUrl: values.PUBLIC_URL?.replace(/\/+$/, ''),
    brand: toBrand(values),
    signIn: toSignIn(values, situation),
    topUps: toTopUps(values, situation),
    hasDemoAccount: offersDemoAccount(values, situation),
    administration: { approvalLimitUsd: values.APPROVAL_LIMIT_USD },
    metricsAccess: metricsAccessOf(values),
    logLevel: values.LOG_LEVEL,
    telemetry: toTelemetry(values),
    drainDelayMs: values.DRAIN_DELAY_MS ?? (values.NODE_ENV === 'production' ? PRODUCTION_DRAIN_DELAY_MS : 0),
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
    // A proxy carries the connections of all its clients, and must limit them itself.
    connectionsPerAddress: values.TRUSTED_PROXY_HOPS ? Number.POSITIVE_INFINITY : values.CONNECTIONS_PER_ADDRESS,
    maxBodyBytes: values.MAX_BODY_BYTES,
    maxJsonDepth: values.MAX_JSON_DEPTH,
    maxChatMessages: values.MAX_CHAT_MESSAGES,
    storedResponses: {
      maxHours: values.STORED_RESPONSE_HOURS,
      maxBytes: values.STORED_RESPONSE_MAX_MB * 1_000_000,
    },
    batchRetentionDays: values.BATCH_RETENTION_DAYS,
    redisCommandTimeoutMs: values.REDIS_COMMAND_TIMEOUT_MS,
    redisFullPercent: values.REDIS_FULL_PERCENT,
    holdTtlMs: values.HOLD_TTL_MS,
    recordClaimMs: values.RECORD_CLAIM_MS,
    hasIdempotencyKeys: values.IDEMPOTENCY_KEYS === 'on',
    databasePoolSize: values.DATABASE_POOL_SIZE,
    supervised:
      redisUrl !== undefined && databaseUrl !== undefined
        ? { redisUrl, databaseUrl, gateway: values.SUPERVISED_GATEWAY, supervisorPid: values.SUPERVISED_BY }
        : undefined,
    sandboxUrl: values.SANDBOX_URL,
    crashAt: values.CRASH_AT,
  }
}

function metricsAccessOf({ METRICS_TOKEN: token, NODE_ENV: mode }: Static<typeof Variables>): Config['metricsAccess'] {
  if (token !== undefined) return { token }
  return mode === 'production' ? 'closed' : 'open'
}
