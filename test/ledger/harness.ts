/** What ledger tests stand on: a ledger on a real Redis, a funded account with a key, and shortcuts for requests. */

import { addToStored } from '@test/ledger/store/stored'
import { redisUrl } from '@test/support/stores'
import { PATIENCE_MS } from '@test/support/until'
import { createDeps, createLedger, type Ledger } from '@/ledger/ledger'
import type { DefaultLimits, Payer, ReserveRequest, Settlement } from '@/ledger/outcomes'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import {
  accountName,
  deadlinesName,
  type HoldMember,
  holdMember,
  keyName,
  metaName,
  parseHoldMember,
  shardOf,
} from '@/ledger/store/names'
import type { RequestFacts } from '@/ledger/usage-record'
import { randomId } from '@/lib/ids'
import type { Logger } from '@/lib/logger'
import { nano } from '@/lib/money'
import { createMemoryHistory, type MemoryHistory } from './memory-history'

export const LIMITS: DefaultLimits = {
  requestsPerMinute: 1_000_000,
  tokensPerMinute: 1_000_000_000,
  concurrency: 10_000,
}

export const FACTS: RequestFacts = {
  requestId: 'req_1',
  model: 'svc/alpha',
  requestedModel: 'auto-smart',
  provider: 'provider1',
  upstreamModel: 'alpha-2026',
  clientFormat: 'chat-completions',
  providerFormat: 'messages',
  usage: { uncached: 10, cacheRead: 5, cacheWrite5m: 2, cacheWrite1h: 1, output: 7, reasoning: 3 },
  rule: 'usage',
  flags: [],
  stream: true,
  status: 200,
  attempts: 1,
  startedAtMs: 1_760_000_000_000,
  firstTokenMs: 12,
  durationMs: 345,
}

/** One event that was logged. */
type LogLine = { level: string; event: string; fields: Record<string, unknown> | undefined }

/** A logger that keeps what it is told. */
export function memoryLogger(): Logger & { lines: LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: string) => (event: string, fields?: Record<string, unknown>) =>
    void lines.push({ level, event, fields })
  const logger = {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    infoOwn: at('info'),
  }
  return logger
}

/** A client of `url` (by default of the Redis all tests share) that is ready. */
export async function connect(url?: string, commandTimeoutMs = 5_000): Promise<RedisClient> {
  const redis = connectRedis(url ?? (await redisUrl()), { logger: memoryLogger(), commandTimeoutMs })
  await waitForRedis(redis, PATIENCE_MS)
  return redis
}

export type Bench = {
  redis: RedisClient
  ledger: Ledger
  history: MemoryHistory
  logger: ReturnType<typeof memoryLogger>
  /** The parts, for tests that reach below the interface. */
  deps: ReturnType<typeof createDeps>
  /** A new account with `credit` nano-USD, and an active key. */
  fund(credit: number, key?: Parameters<MemoryHistory['setKey']>[0] | object): Promise<Payer>
}

/** A ledger over `redis` with a history of its own. */
export function createBench(redis: RedisClient, limits = LIMITS, history = createMemoryHistory()): Bench {
  const logger = memoryLogger()
  const options = { redis, history, defaultLimits: limits, logger }
  return {
    redis,
    history,
    logger,
    ledger: createLedger(options),
    deps: createDeps(options),
    async fund(credit, key = {}) {
      const payer = { accountId: randomId('acct'), keyId: randomId('key') }
      history.addAccount(payer.accountId)
      history.addCredit(payer.accountId, randomId('entry'), credit)
      history.setKey({ ...key, ...payer })
      return payer
    },
  }
}

/** A reserve of `amount` with a hold id of its own. */
export function request(payer: Payer, amount: number, changes: Partial<ReserveRequest> = {}): ReserveRequest {
  const base = { ...payer, holdId: randomId('hold'), amount: nano(amount), inputCost: nano(Math.min(1, amount)) }
  return { ...base, tokens: 100, ttlMs: 60_000, ...changes }
}

/** The settlement of a reserved request. */
export function settlement(
  hold: Payer & { holdId: string },
  cost: number,
  changes: Partial<Settlement> = {},
): Settlement {
  const { accountId, keyId, holdId } = hold
  return { accountId, keyId, holdId, cost: nano(cost), tokens: 25, facts: FACTS, ...changes }
}

/** Makes a hold's deadline lie `agoMs` in the past. */
export async function passDeadline(redis: RedisClient, hold: ReserveRequest, agoMs = 1): Promise<HoldMember> {
  const deadlines = deadlinesName(shardOf(hold.accountId))
  const members = (await redis.zrange(deadlines, '0', '-1')).flatMap((text) => parseHoldMember(text) ?? [])
  const { accountId, keyId, holdId, amount } = hold
  const member = members.find((one) => one.holdId === holdId) ?? { accountId, keyId, holdId, amount }
  await redis.zadd(deadlines, 'XX', (await storeMs(redis)) - agoMs, holdMember(member))
  return member
}

/** Lets time pass for the rate limits of a key and its account: what they last did becomes `ms` older. */
export async function letTimePass(redis: RedisClient, payer: Payer, ms: number): Promise<void> {
  await addToStored(redis, 'key', keyName(payer), { requestsAtMs: -ms, tokensAtMs: -ms })
  await addToStored(redis, 'account', accountName(payer.accountId), { levelsAtMs: -ms })
}

/** The store's clock. */
export async function storeMs(redis: RedisClient): Promise<number> {
  const [seconds = 0, micros = 0] = (await redis.time()).map(Number)
  return seconds * 1000 + Math.floor(micros / 1000)
}

/** Everything in an account's shard, serialised, to compare with later. */
export async function snapshot(redis: RedisClient, accountId: string): Promise<Record<string, string>> {
  const tag = metaName(shardOf(accountId)).split(':')[0] ?? ''
  const all = await redis.keys(`${tag.replace(/[{}]/g, '?')}:*`)
  // Those of the probe are no part of the ledger: gateways of other tests leave them, and they vanish by themselves.
  const names = all.filter((name) => name.startsWith(`${tag}:`) && !name.startsWith(`${tag}:probe`)).sort()
  const values = await Promise.all(names.map((name) => redis.dumpBuffer(name)))
  return Object.fromEntries(names.map((name, index) => [name, values[index]?.toString('base64') ?? '']))
}
