/** Warnings of former texts of rotated keys: a former text that ends soon and is still used. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture, SERVICE, silentLogger } from '@test/accounts/fixture'
import { newOrganisation } from '@test/accounts/members/people'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { createAlertWorker } from '@/accounts/alerts/worker'
import { OPERATOR } from '@/accounts/audit'
import { rotateKey } from '@/accounts/rotation/rotate-key'
import { systemClock } from '@/lib/clock'
import { chooseMails } from '@/people/alerts/choices'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
afterAll(() => fixture.close())

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
  const rotate = (overlapMs: number) =>
    rotateKey(database, ledger, SERVICE, { keyId, accountId, overlapMs, by: OPERATOR })
  const used = (
    ms: number,
  ) => database.sql`UPDATE key_secrets SET last_used_at = ${new Date(ms).toISOString()}::text::timestamptz
    WHERE key_id = ${keyId} AND ends_at > now()`
  const told = to('former_key_ends', owner, billing, developer)
  // A day of overlap: six hours before its end, and only if it was used in the last six.
  expect((await rotate(24 * HOUR_MS)).kind).toBe('rotated')
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
  await rotate(30 * DAY_MS)
  const monthMs = Date.now()
  await used(monthMs + 27 * DAY_MS)
  expect(await lookTwice(monthMs + 28.9 * DAY_MS)).toEqual([])
  expect(await lookTwice(monthMs + 29.1 * DAY_MS)).toEqual(told)
  expect(await lookTwice(monthMs + 30.1 * DAY_MS)).toEqual([])
  // Of less than an hour nobody is told, and of a key that is off neither.
  await rotate(0.9 * HOUR_MS)
  await used(Date.now() + 0.8 * HOUR_MS)
  expect(await lookTwice(Date.now() + 0.85 * HOUR_MS)).toEqual([])
  await rotate(24 * HOUR_MS)
  await used(Date.now() + 19 * HOUR_MS)
  await apiKeys.deactivate(keyId, accountId, OPERATOR)
  expect(await lookTwice(Date.now() + 20 * HOUR_MS)).toEqual([])
  await apiKeys.activate(keyId, accountId, OPERATOR)
  await chooseMails(database, { accountId, email: developer.email, kind: 'key_expiry', isWanted: false }, Date.now())
  expect(await lookTwice(Date.now() + 20 * HOUR_MS)).toEqual(to('former_key_ends', owner, billing))
})
