/** The life of an API key, as the history, the ledger and other gateways see it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { freshDatabase, redisUrl, startPostgres } from '@test/support/stores'
import { until } from '@test/support/until'
import { usageRecord } from '@test/usage/sample-records'
import type { TransactionSql } from 'postgres'
import { createIdentify } from '@/accounts/identify'
import { generateKey, hashKey, isWellFormedKey } from '@/accounts/key-text'
import { GatewayError } from '@/chat/error'
import { connectDatabase } from '@/db/client'
import { nano } from '@/lib/money'
import { type Fixture, openFixture, SERVICE } from './fixture'
import { createTestAccount } from './test-account'

let fixture: Fixture
let databaseAddress: string
let accountId: string

beforeAll(async () => {
  databaseAddress = await freshDatabase()
  fixture = await openFixture(await redisUrl(), databaseAddress)
})
beforeEach(async () => {
  accountId = await createTestAccount(fixture)
})
afterAll(() => fixture.close())

describe('an API key', () => {
  test('S2: an API key is shown once and stored only as a hash', async () => {
    const { keyId, key } = await createKey()
    expect(isWellFormedKey(key, SERVICE)).toBe(true)
    const rows = await fixture.database.sql`SELECT api_keys::text AS row FROM api_keys WHERE id = ${keyId}`
    expect(rows[0]?.row).toContain(hashKey(key))
    expect(rows[0]?.row).not.toContain(key.slice(8, -4))
  })

  test('creating an API key for an unknown account fails', async () => {
    expect(await fixture.apiKeys.create({ accountId: 'acct_none', name: 'x' })).toEqual({ kind: 'unknown_account' })
  })

  test('API keys are listed newest first, with limits and first and last characters; deleted keys are omitted', async () => {
    const first = await createKey()
    const limits = {
      requestsPerMinute: 5,
      tokensPerMinute: 1_000,
      concurrency: 2,
      monthlyBudget: nano(9),
      expiresAtMs: 4e12,
    }
    const second = await fixture.apiKeys.create({ accountId, name: 'two', ...limits, allowedModels: ['svc/alpha'] })
    const third = await createKey()
    await fixture.apiKeys.delete(third.keyId)
    if (second.kind !== 'created') throw new Error(second.kind)
    const list = await fixture.apiKeys.list(accountId)
    expect(list.map((key) => key.keyId)).toEqual([second.keyId, first.keyId])
    expect(list[0]).toMatchObject({
      ...{ ...limits, name: 'two', status: 'active', allowedModels: ['svc/alpha'], lastUsedAt: null },
      ...{ prefix: second.key.slice(0, 8), lastFour: second.key.slice(-4) },
    })
    expect(JSON.stringify(list)).not.toContain(second.key.slice(8, -4))
  })

  test('an API key can be deactivated and activated again; deletion is final', async () => {
    const { apiKeys, ledger } = fixture
    const { keyId, key } = await createKey()
    const payer = { accountId, keyId }
    const ledgerStatus = async () => (await ledger.readKey(payer))?.status
    expect(await ledgerStatus()).toBe('active')
    expect(await apiKeys.deactivate(keyId)).toEqual({ kind: 'updated', status: 'deactivated' })
    expect(await ledgerStatus()).toBe('deactivated')
    expect(await apiKeys.deactivate(keyId)).toEqual({ kind: 'updated', status: 'deactivated' })
    expect(await apiKeys.activate(keyId)).toEqual({ kind: 'updated', status: 'active' })
    expect(await ledgerStatus()).toBe('active')
    expect(await apiKeys.delete(keyId)).toEqual({ kind: 'updated', status: 'deleted' })
    expect(await ledgerStatus()).toBe('deleted')
    expect(await ledger.lookupKeyHash(hashKey(key))).toBeUndefined()
    expect(await apiKeys.activate(keyId)).toEqual({ kind: 'deleted' })
    expect(await apiKeys.delete(keyId)).toEqual({ kind: 'updated', status: 'deleted' })
    expect(await ledgerStatus()).toBe('deleted')
  })

  test('a key deactivated before any gateway loaded it is refused by the first gateway that loads it', async () => {
    const { keyId } = await createKey()
    await fixture.apiKeys.deactivate(keyId)
    expect(await reserve(keyId)).toEqual({ kind: 'key_inactive', status: 'deactivated' })
  })

  test('concurrent changes of a key give the same final state on every gateway', async () => {
    const { keyId } = await createKey()
    const { apiKeys } = fixture
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? apiKeys.activate : apiKeys.deactivate)(keyId)),
    )
    const [listed] = await apiKeys.list(accountId)
    expect((await fixture.ledger.readKey({ accountId, keyId }))?.status).toBe(listed?.status)
  })
})

describe('identify', () => {
  test('identify finds a key in memory, ledger or history, and copies it to the stores that lack it', async () => {
    const { keyId, key } = await createKey()
    const payer = { accountId, keyId }
    await fixture.ledger.forgetKeyHash(hashKey(key))
    let lookups = 0
    const identify = createIdentify(fixture.database, countLookups(), SERVICE)
    function countLookups() {
      return {
        ...fixture.ledger,
        lookupKeyHash: (keyHash: string) => {
          lookups += 1
          return fixture.ledger.lookupKeyHash(keyHash)
        },
      }
    }
    expect(await Promise.all([identify(key), identify(key), identify(key)])).toEqual([payer, payer, payer])
    expect(lookups).toBe(1)
    expect(await fixture.ledger.lookupKeyHash(hashKey(key))).toEqual(payer)
    expect(await identify(key)).toEqual(payer)
    expect(lookups).toBe(1)
  })

  test('S1: identify makes no look-up for text that cannot be a key', async () => {
    const failing = () => Promise.reject(new Error('asked'))
    const identify = createIdentify(fixture.database, { ...fixture.ledger, lookupKeyHash: failing }, SERVICE)
    const { key } = await createKey()
    expect(await identify(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)).toBeUndefined()
    expect(await identify('')).toBeUndefined()
  })

  test('identify does not find unknown or deleted keys, and does not cache the result', async () => {
    const identify = createIdentify(fixture.database, fixture.ledger, SERVICE)
    const { keyId, key } = await createKey()
    await fixture.apiKeys.delete(keyId)
    expect(await identify(key)).toBeUndefined()
    const later = await createKey()
    await fixture.ledger.forgetKeyHash(hashKey(later.key))
    await fixture.database.sql`UPDATE api_keys SET key_hash = repeat('0', 64) WHERE id = ${later.keyId}`
    expect(await identify(later.key)).toBeUndefined()
    await fixture.database.sql`UPDATE api_keys SET key_hash = ${hashKey(later.key)} WHERE id = ${later.keyId}`
    expect(await identify(later.key)).toEqual({ accountId, keyId: later.keyId })
  })

  test('identify evicts the key that was unused for longest', async () => {
    let lookups = 0
    const ledger = {
      ...fixture.ledger,
      lookupKeyHash: (keyHash: string) => {
        lookups += 1
        return fixture.ledger.lookupKeyHash(keyHash)
      },
    }
    const identify = createIdentify(fixture.database, ledger, SERVICE, { memorySize: 2 })
    const [one, two, three] = [await createKey(), await createKey(), await createKey()]
    for (const { key } of [one, two, one, three, one]) await identify(key)
    expect(lookups).toBe(3)
    await identify(two.key)
    expect(lookups).toBe(4)
  })

  test('while the history is down, identify fails instead of calling the key unknown', async () => {
    const { keyId, key } = await createKey()
    const unknownHere = (await createKey()).key
    await fixture.ledger.forgetKeyHash(hashKey(unknownHere))
    const server = await startPostgres()
    const elsewhere = await openFixture(await redisUrl(), server.url)
    await server.kill()
    try {
      const identify = createIdentify(elsewhere.database, fixture.ledger, SERVICE, { timeoutMs: 300 })
      expect(await identify(key)).toEqual({ accountId, keyId })
      const failure = await Promise.resolve(identify(unknownHere)).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(GatewayError)
      expect(failure).toMatchObject({ kind: 'overloaded', status: 503 })
    } finally {
      await elsewhere.close()
      await server.stop()
    }
  })

  test('a flood of invalid keys does not slow requests with valid keys', async () => {
    const { keyId, key } = await createKey()
    await fixture.ledger.forgetKeyHash(hashKey(key))
    const identify = createIdentify(fixture.database, fixture.ledger, SERVICE)
    const other = connectDatabase(databaseAddress, { maxConnections: 1 })
    const outcomes = await other.sql.begin(async (connection) => {
      await connection`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`
      const flood = Promise.allSettled(Array.from({ length: 14_000 }, () => identify(generateKey(SERVICE))))
      await until(async () => (await waitingStatements(connection)) > 0, 'the look-ups to wait for the lock')
      // The pool has four connections: whoever needs one for something else still gets it.
      expect(await fixture.database.sql`SELECT 1 AS one`).toHaveLength(1)
      expect(await waitingStatements(connection)).toBeLessThanOrEqual(2)
      return await flood
    })
    const refusals = outcomes.filter((one) => one.status === 'rejected' && one.reason instanceof GatewayError)
    expect(refusals).toHaveLength(14_000)
    await other.close(0)
    expect(await until(() => Promise.resolve(identify(key)).catch(() => undefined), 'the key to be found')).toEqual({
      accountId,
      keyId,
    })
  })

  test('identify uses the history while the ledger is down', async () => {
    const { keyId, key } = await createKey()
    const down = () => Promise.reject(new Error('down'))
    const ledger = { ...fixture.ledger, lookupKeyHash: down, rememberKeyHash: down }
    expect(await createIdentify(fixture.database, ledger, SERVICE)(key)).toEqual({ accountId, keyId })
  })
})

async function waitingStatements(connection: TransactionSql): Promise<number> {
  const [row] = await connection<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  return row?.count ?? 0
}

async function createKey(): Promise<{ keyId: string; key: string }> {
  const created = await fixture.apiKeys.create({ accountId, name: 'test' })
  if (created.kind !== 'created') throw new Error(created.kind)
  return created
}

async function reserve(keyId: string) {
  return await fixture.ledger.reserve({
    ...{ accountId, keyId, holdId: `hold_${keyId}`, amount: nano(0), inputCost: nano(0) },
    ...{ tokens: 1, ttlMs: 60_000, facts: usageRecord().facts },
  })
}
