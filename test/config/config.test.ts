/** Settings: defaults, all faults reported at once by name, and no secret in an error. */
import { describe, expect, test } from 'bun:test'
import type { Config, Environment } from '@/config/config'
import { formatFaults } from '@/lib/fault'
import { faultsOf, load } from './read-settings'

const SECRET = 'x'.repeat(32)

describe('the settings', () => {
  const DEFAULTS: Config = {
    isProduction: false,
    host: '0.0.0.0',
    port: 3000,
    redisUrls: undefined,
    redisKeyPrefix: '',
    databaseUrl: undefined,
    migratorUrl: undefined,
    catalogPath: 'config/catalog.json',
    dataDir: '.data',
    hasSettlementJournal: true,
    processes: 1,
    administrator: undefined,
    publicUrl: undefined,
    brand: {
      ...{ name: undefined, color: undefined, logoPath: undefined },
      ...{ supportEmail: undefined, termsUrl: undefined, privacyUrl: undefined },
    },
    signIn: {
      signUp: 'closed',
      secrets: undefined,
      mail: undefined,
      sessionIdleSeconds: 3 * 86_400,
      sessionMaxSeconds: 30 * 86_400,
      trustedProxyHops: 0,
    },
    topUps: {
      ...{ bank: undefined, deposit: undefined, seller: { name: undefined, address: undefined, vatId: undefined } },
      orderUsd: { minimum: 5, maximum: 10_000 },
      reversibleDays: { deposit: 30, bankTransfer: 0 },
    },
    hasDemoAccount: false,
    administration: { approvalLimitUsd: 1_000 },
    metricsAccess: 'open',
    logLevel: 'info',
    telemetry: undefined,
    drainDelayMs: 0,
    shutdownTimeoutMs: 30_000,
    connectionsPerAddress: 512,
    maxBodyBytes: 20 * 1024 * 1024,
    maxJsonDepth: 64,
    maxChatMessages: 100,
    storedResponses: { maxHours: 720, maxBytes: 1_024_000_000 },
    batchRetentionDays: 30,
    redisCommandTimeoutMs: 500,
    redisFullPercent: 90,
    holdTtlMs: 60_000,
    recordClaimMs: 30_000,
    hasIdempotencyKeys: true,
    databasePoolSize: 10,
    supervised: undefined,
    sandboxUrl: undefined,
    crashAt: undefined,
  }

  test('settings have the documented defaults', () => {
    expect(load({})).toEqual(DEFAULTS)
  })

  test('an empty variable counts as unset', () => {
    const empty = ['PORT', 'HOST', 'REDIS_URL', 'DATABASE_URL', 'LOG_LEVEL', 'ADMIN_EMAIL', 'NODE_ENV', 'PUBLIC_URL']
    expect(load(Object.fromEntries(empty.map((name) => [name, ''])))).toEqual(DEFAULTS)
  })

  test('settings are read from the environment', () => {
    const config = load({
      NODE_ENV: 'production',
      AUTH_SECRET: SECRET,
      HOST: '::1',
      PORT: '0',
      REDIS_URL: 'redis://a:6379,rediss://user:pass@b:6380',
      DATABASE_URL: 'postgres://user:pass@host:5432/name',
      CATALOG: '/etc/catalog.json',
      DATA_DIR: '/var/lib/gateway',
      PROCESSES: '4',
      ADMIN_EMAIL: 'admin@example.com',
      ADMIN_PASSWORD: 'correct horse',
      PUBLIC_URL: 'https://gateway.example.com/base/',
      TRUSTED_PROXY_HOPS: '0',
      METRICS_TOKEN: 'token-0123456789',
      LOG_LEVEL: 'debug',
      SHUTDOWN_TIMEOUT_MS: '0',
      IDEMPOTENCY_KEYS: 'off',
      SETTLEMENT_JOURNAL: 'off',
      UNRELATED: 'ignored',
    })
    expect(config).toEqual({
      ...DEFAULTS,
      isProduction: true,
      host: '::1',
      port: 0,
      redisUrls: ['redis://a:6379', 'rediss://user:pass@b:6380'],
      databaseUrl: 'postgres://user:pass@host:5432/name',
      catalogPath: '/etc/catalog.json',
      dataDir: '/var/lib/gateway',
      processes: 4,
      administrator: { email: 'admin@example.com', password: 'correct horse' },
      publicUrl: 'https://gateway.example.com/base',
      signIn: { ...DEFAULTS.signIn, secrets: [SECRET] },
      metricsAccess: { token: 'token-0123456789' },
      logLevel: 'debug',
      drainDelayMs: 5_000,
      shutdownTimeoutMs: 0,
      hasIdempotencyKeys: false,
      hasSettlementJournal: false,
    })
  })

  test('inherited object properties are no settings', () => {
    expect(load({ constructor: 'x', __proto__: 'y', toString: 'z' } as unknown as Environment)).toEqual(DEFAULTS)
  })
})

describe('faulty settings', () => {
  test('faulty settings are reported together, each with its variable', () => {
    expect(faultsOf({ PORT: 'http', PROCESSES: '0', LOG_LEVEL: 'loud', REDIS_URL: 'localhost', HOST: 'a b' })).toEqual([
      'HOST: expected a host name or address to listen on; found "a b"',
      'PORT: expected a port: an integer from 0 to 65535; found "http"',
      'REDIS_URL: expected redis:// or rediss:// addresses, separated by commas without spaces, or one redis+sentinel:// address; its value (not shown) is something else',
      'PROCESSES: expected a number of processes: an integer from 1 to 256; found "0"',
      'LOG_LEVEL: expected one of debug, info, warn, error; found "loud"',
    ])
  })

  test.each([
    ['PORT', '65536'],
    ['PORT', '3000.5'],
    ['PORT', '3e3'],
    ['PORT', ' 3000'],
    ['PORT', '0x10'],
    ['PORT', '-1'],
    ['MAX_BODY_BYTES', '0'],
    ['MAX_BODY_BYTES', '99999999999999999999'],
    ['DATABASE_URL', 'mysql://host/name'],
    ['REDIS_URL', 'redis://a:1,'],
    ['REDIS_URL', 'redis://a:1, redis://b:1'],
    ['PUBLIC_URL', 'gateway.example.com'],
    ['PUBLIC_URL', 'https://user@host/'],
    ['PUBLIC_URL', 'https://host/?a=1'],
    ['HOLD_TTL_MS', '1'],
    ['MAX_CHAT_MESSAGES', '99'],
    ['MAX_CHAT_MESSAGES', '100001'],
  ])('%s=%p is refused', (name, value) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: expected `))])
  })

  test('an administrator without address or password is refused', () => {
    expect(faultsOf({ ADMIN_EMAIL: 'admin@example.com' })).toEqual([
      expect.stringContaining('ADMIN_PASSWORD: is unset'),
    ])
    expect(faultsOf({ ADMIN_PASSWORD: 'long enough' })).toEqual([expect.stringContaining('ADMIN_EMAIL: is unset')])
    expect(faultsOf({ ADMIN_EMAIL: 'admin@example.com', ADMIN_PASSWORD: 'short' })).toEqual([
      expect.stringContaining('8 to 256 characters'),
    ])
  })

  test('a sandbox in production is refused', () => {
    const sandbox = { SANDBOX_URL: 'http://127.0.0.1:9' }
    expect(faultsOf(sandbox)).toEqual([])
    expect(faultsOf({ ...sandbox, NODE_ENV: 'production', AUTH_SECRET: SECRET })).toEqual([
      expect.stringContaining('refuses the sandbox'),
    ])
  })

  test('errors of settings never contain a secret', () => {
    const environment = { REDIS_URL: 'canary-1', DATABASE_URL: 'canary-2', ADMIN_EMAIL: 'a@b', ADMIN_PASSWORD: 'can-3' }
    const text = faultsOf(environment).join('\n')
    expect(text).not.toMatch(/can(ary)?-\d/)
    expect(faultsOf(environment)).toHaveLength(3)
  })

  test('errors of settings become one message with a line each', () => {
    const faults = [
      { place: 'PORT', message: 'expected a port' },
      { place: 'HOST', message: 'expected a host' },
    ]
    expect(formatFaults('Cannot start:', faults)).toBe(
      'Cannot start:\n  PORT: expected a port\n  HOST: expected a host',
    )
  })
})
