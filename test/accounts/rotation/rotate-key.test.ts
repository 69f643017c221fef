/** Rotation of a key's text: in history, ledger and audit log, and after the loss of either store. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture, SERVICE, silentLogger } from '@test/accounts/fixture'
import { newOrganisation } from '@test/accounts/members/people'
import { createTestAccount } from '@test/accounts/test-account'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { createAlertWorker } from '@/accounts/alerts/worker'
import { createApiKeys } from '@/accounts/api-keys'
import { OPERATOR } from '@/accounts/audit'
import { createIdentify } from '@/accounts/identify'
import { hashKey } from '@/accounts/key-text'
import { MAX_OVERLAP_MS, parseOverlap, rotateKey } from '@/accounts/rotation/rotate-key'
import type { Payer } from '@/ledger/outcomes'
import { systemClock } from '@/lib/clock'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { chooseMails } from '@/people/alerts/choices'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
let fixture: Fixture
let accountId: string
let keyId: string
let first: string

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
beforeEach(async () => {
  accountId = await createTestAccount(fixture)
  await fixture.credits.addCredit({ accountId, amount: nano(1_000_000), reference: randomId('ref') })
  const created = await fixture.apiKeys.create({ accountId, name: 'first', monthlyBudget: nano(500_000) })
  if (created.kind !== 'created') throw new Error(created.kind)
  keyId = created.keyId
  first = created.key
})
afterAll(() => fixture.close())

async function rotate(overlapMs: number): Promise<string> {
  const outcome = await fixture.apiKeys.rotate(keyId, overlapMs, accountId)
  if (outcome.kind !== 'rotated') throw new Error(outcome.kind)
  return outcome.key
}

/** As a gateway that has just started has it. */
async function payerOf(key: string): Promise<Payer> {
  const payer = await createIdentify(fixture.database, fixture.ledger, SERVICE)(key)
  if (!payer) throw new Error('nobody has this key')
  return payer
}

async function reserve(key: string): Promise<string> {
  const base = { holdId: randomId('hold'), amount: nano(1), inputCost: nano(0), tokens: 1, ttlMs: 60_000 }
  const outcome = await fixture.ledger.reserve({ ...(await payerOf(key)), ...base })
  return outcome.kind === 'key_inactive' ? outcome.status : outcome.kind
}

describe('a rotated key', () => {
  test('a rotated key keeps its id and limits and accepts both texts; the next rotation ends the oldest text', async () => {
    expect(await reserve(first)).toBe('reserved')
    const second = await rotate(HOUR_MS)
    expect([await reserve(first), await reserve(second)]).toEqual(['reserved', 'reserved'])
    expect([await payerOf(first), await payerOf(second)]).toEqual([
      { accountId, keyId },
      { accountId, keyId, secret: 2 },
    ])
    expect(await fixture.ledger.readKey({ accountId, keyId })).toMatchObject({
      ...{ open: 3, monthlyBudget: nano(500_000), secrets: { latest: 2 } },
    })
    const third = await rotate(HOUR_MS)
    expect([await reserve(first), await reserve(second), await reserve(third)]).toEqual([
      ...['replaced', 'reserved', 'reserved'],
    ])
    const listed = await fixture.apiKeys.find(accountId, keyId)
    expect(listed).toMatchObject({ lastFour: third.slice(-4), formerSecret: { lastFour: second.slice(-4) } })
    expect((await fixture.apiKeys.list(accountId)).length).toBe(1)
  })

  test('a rotation without overlap leaves one valid text', async () => {
    const second = await rotate(0)
    expect([await reserve(first), await reserve(second)]).toEqual(['replaced', 'reserved'])
    expect((await fixture.apiKeys.find(accountId, keyId))?.formerSecret).toBeNull()
  })

  test('a rotated key accepts the same texts after Redis was emptied', async () => {
    const second = await rotate(0)
    const third = await rotate(HOUR_MS)
    await fixture.redis.flushall()
    expect([await reserve(first), await reserve(second), await reserve(third)]).toEqual([
      ...['replaced', 'reserved', 'reserved'],
    ])
  })

  test('a rotated key shows when its former text was last used', async () => {
    await rotate(HOUR_MS)
    const former = async () => (await fixture.apiKeys.find(accountId, keyId))?.formerSecret
    expect(await former()).toMatchObject({ lastUsedAt: null })
    await reserve(first)
    await until(async () => (await former())?.lastUsedAt, 'the use to be written down')
  })

  test('a deleted rotated key is refused by both texts, and removed from the store', async () => {
    const second = await rotate(HOUR_MS)
    const known = await payerOf(first)
    await fixture.apiKeys.delete(keyId)
    for (const key of [first, second]) expect(await fixture.ledger.lookupKeyHash(hashKey(key))).toBeUndefined()
    const hold = { holdId: randomId('hold'), amount: nano(1), inputCost: nano(0), tokens: 1, ttlMs: 60_000 }
    expect(await fixture.ledger.reserve({ ...known, ...hold })).toEqual({ kind: 'key_inactive', status: 'deleted' })
    expect(await fixture.apiKeys.rotate(keyId, 0)).toEqual({ kind: 'deleted' })
  })

  test('a rotation has an audit entry, and no text of the key is stored', async () => {
    const second = await rotate(HOUR_MS)
    const { sql } = fixture.database
    const entries = await sql`SELECT details FROM audit_entries WHERE action = 'key.rotate' AND subject = ${keyId}`
    expect(entries[0]?.details).toMatchObject({ name: 'first', lastFour: second.slice(-4) })
    const rows =
      await sql`SELECT (SELECT json_agg(k) FROM api_keys k)::text || (SELECT json_agg(s) FROM key_secrets s)::text ||
      (SELECT json_agg(e) FROM audit_entries e)::text AS everything`
    for (const key of [first, second]) expect(rows[0]?.everything).not.toContain(key.slice(8, -4))
  })
})

describe('a rotation', () => {
  test('rotating another account’s key, an unknown key or the playground key is refused', async () => {
    expect(await fixture.apiKeys.rotate(keyId, 0, 'acct_other')).toEqual({ kind: 'unknown_key' })
    expect(await fixture.apiKeys.rotate('key_none', 0)).toEqual({ kind: 'unknown_key' })
    expect(await fixture.apiKeys.rotate(await fixture.apiKeys.playgroundKey(accountId), 0)).toEqual({
      kind: 'built_in',
    })
  })

  test('a rotation fails without change while the ledger is down', async () => {
    const down = { ...fixture.ledger, readKey: () => Promise.reject(new Error('ledger down')) }
    await expect(createApiKeys(fixture.database, down, SERVICE).rotate(keyId, 0)).rejects.toThrow('ledger down')
    expect(await reserve(first)).toBe('reserved')
    expect((await fixture.apiKeys.find(accountId, keyId))?.lastFour).toBe(first.slice(-4))
  })

  test('if a rotation did not reach the ledger, the first request with the new text sends it to the ledger', async () => {
    await reserve(first)
    const deaf = { ...fixture.ledger, setKeyState: () => Promise.reject(new Error('ledger down')) }
    const outcome = await createApiKeys(fixture.database, deaf, SERVICE).rotate(keyId, 0)
    if (outcome.kind !== 'rotated') throw new Error(outcome.kind)
    expect(await reserve(outcome.key)).toBe('reserved')
    expect(await reserve(first)).toBe('replaced')
    expect(await fixture.ledger.readKey({ accountId, keyId })).toMatchObject({ open: 2 })
  })

  test('concurrent rotations leave two valid texts, the same on every gateway', async () => {
    const keys = [first, ...(await Promise.all(Array.from({ length: 8 }, () => rotate(HOUR_MS))))]
    const answers = await Promise.all(keys.map(reserve))
    expect(answers.filter((answer) => answer === 'reserved').length).toBe(2)
    expect(answers.filter((answer) => answer === 'replaced').length).toBe(keys.length - 2)
  })
})

test('a rotation’s overlap is refused unless it has the documented format', () => {
  expect(['0', '0s', '90s', '30m', '24h', '30d'].map(parseOverlap)).toEqual([
    ...[0, 0, 90_000, 1_800_000, 24 * HOUR_MS, MAX_OVERLAP_MS],
  ])
  for (const text of ['', '1', '-1h', '1.5h', '31d', '24 h', '24H', '1w', '99999999s', 'h', ' 0']) {
    expect(parseOverlap(text)).toBeUndefined()
  }
})

/** Two gateways look at that moment. Returns the mails that they have written, as `kind recipient`, sorted. */
async function lookTwice(nowMs: number): Promise<string[]> {
  const { database } = fixture
  const clock = { ...systemClock, now: () => nowMs }
  const worker = createAlertWorker({ database, clock, logger: silentLogger, bookedUntilMs: clock.now })
  await Promise.all([worker.runOnce(), worker.runOnce()])
  const rows = await database.sql<{ kind: string; recipient: string }[]>`DELETE FROM mails RETURNING kind, recipient`
  return rows.map(({ kind, recipient }) => `${kind} ${recipient}`).sort()
}
const to = (kind: string, ...people: { email: string }[]) => people.map(({ email }) => `${kind} ${email}`).sort()

test('a former key text that is still used warns the key’s owner once before it ends', async () => {
  const { accountId, people } = await newOrganisation(fixture)
  const { database, ledger, apiKeys } = fixture
  const { owner, billing, developer } = people
  const made = await apiKeys.create({ accountId, name: 'ci', createdBy: developer.userId })
  if (made.kind !== 'created') throw new Error(made.kind)
  const { keyId } = made
  const renew = (overlapMs: number) =>
    rotateKey(database, ledger, SERVICE, { keyId, accountId, overlapMs, by: OPERATOR })
  const used = (
    ms: number,
  ) => database.sql`UPDATE key_secrets SET last_used_at = ${new Date(ms).toISOString()}::text::timestamptz
    WHERE key_id = ${keyId} AND ends_at > now()`
  const told = to('former_key_ends', owner, billing, developer)
  // A day of overlap: six hours before its end, and only if it was used in the last six.
  expect((await renew(24 * HOUR_MS)).kind).toBe('rotated')
  const dayMs = Date.now()
  expect(await lookTwice(dayMs + 18.5 * HOUR_MS)).toEqual([])
  await used(dayMs + 12 * HOUR_MS)
  expect(await lookTwice(dayMs + 18.5 * HOUR_MS)).toEqual([])
  await used(dayMs + 17 * HOUR_MS)
  expect(await lookTwice(dayMs + 17.5 * HOUR_MS)).toEqual([])
  expect(await lookTwice(dayMs + 18.5 * HOUR_MS)).toEqual(told)
  await used(dayMs + 20 * HOUR_MS)
  expect(await lookTwice(dayMs + 23 * HOUR_MS)).toEqual([])
  // A month of it: a day before its end, and again, since it is another text.
  await renew(30 * DAY_MS)
  const monthMs = Date.now()
  await used(monthMs + 27 * DAY_MS)
  expect(await lookTwice(monthMs + 28.9 * DAY_MS)).toEqual([])
  expect(await lookTwice(monthMs + 29.1 * DAY_MS)).toEqual(told)
  expect(await lookTwice(monthMs + 30.1 * DAY_MS)).toEqual([])
  // Of less than an hour nobody is told, and of a key that is off neither.
  await renew(0.9 * HOUR_MS)
  await used(Date.now() + 0.8 * HOUR_MS)
  expect(await lookTwice(Date.now() + 0.85 * HOUR_MS)).toEqual([])
  await renew(24 * HOUR_MS)
  await used(Date.now() + 19 * HOUR_MS)
  await apiKeys.deactivate(keyId, accountId, OPERATOR)
  expect(await lookTwice(Date.now() + 20 * HOUR_MS)).toEqual([])
  await apiKeys.activate(keyId, accountId, OPERATOR)
  await chooseMails(database, { accountId, email: developer.email, kind: 'key_expiry', isWanted: false }, Date.now())
  expect(await lookTwice(Date.now() + 20 * HOUR_MS)).toEqual(to('former_key_ends', owner, billing))
})
