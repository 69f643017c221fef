/** Alerts on a real Postgres: who gets which alert, once with several gateways, none lost if one dies, none to people who turned it off. */
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { join, newOrganisation, newUser, type Organisation } from '@test/accounts/members/people'
import { test } from '@test/ledger/accounts/within-day'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { lookAt } from '@/accounts/alerts/look'
import { createAlertWorker } from '@/accounts/alerts/worker'
import { createBudgets } from '@/accounts/budgets/budgets'
import { changeKeyPolicy } from '@/accounts/policies/key-policy'
import { systemClock } from '@/lib/clock'
import { NANO_PER_USD, nano } from '@/lib/money'
import { setAlertAddresses } from '@/people/alerts/addresses'
import { chooseMails, readChoices } from '@/people/alerts/choices'
import { changeThresholds, readThresholds } from '@/people/alerts/thresholds'
import { removeMember } from '@/people/members/change-members'

const OPERATOR = { actor: { userId: null, email: 'operator' } }
const DAY_MS = 86_400_000
let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
afterAll(() => fixture.close())

const usd = (amount: number) => Math.round(amount * NANO_PER_USD)

/** As a flusher books it. */
async function spend(accountId: string, amount: number, keyId = 'key_1'): Promise<void> {
  const { sql } = fixture.database
  await sql`UPDATE accounts SET balance_nano = balance_nano - ${usd(amount)}, spent_nano = spent_nano + ${usd(amount)} WHERE id = ${accountId}`
  await sql`INSERT INTO usage_daily (account_id, day, key_id, model, requests, errors, uncached_tokens, cache_read_tokens, cache_write_5m_tokens,
      cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano, duration_ms, first_token_ms, first_token_count)
    VALUES (${accountId}, current_date, ${keyId}, 'svc/alpha', 1, 0, 0, 0, 0, 0, 0, 0, ${usd(amount)}, 0, 0, 0)
    ON CONFLICT (account_id, day, key_id, model, member_id) DO UPDATE SET cost_nano = usage_daily.cost_nano + excluded.cost_nano`
}
const credit = (accountId: string, amount: number) =>
  fixture.database.sql`UPDATE accounts SET balance_nano = balance_nano + ${usd(amount)} WHERE id = ${accountId}`

/** The alerts so far, as `kind recipient`, sorted, and none before them. */
async function alertsOf(accountId: string): Promise<string[]> {
  const rows = await fixture.database.sql<{ kind: string; recipient: string }[]>`
    DELETE FROM mails WHERE facts->>'accountId' = ${accountId} RETURNING kind, recipient`
  return rows.map(({ kind, recipient }) => `${kind} ${recipient}`).sort()
}
const look = (clock = systemClock) =>
  createAlertWorker({ database: fixture.database, clock, logger: silentLogger, bookedUntilMs: clock.now }).runOnce()
const at = (nowMs: number) => ({ ...systemClock, now: () => nowMs })
const to = (kind: string, ...people: { email: string }[]) => people.map(({ email }) => `${kind} ${email}`).sort()

async function low(organisation: Organisation): Promise<void> {
  await credit(organisation.accountId, 20)
  await spend(organisation.accountId, 11)
}

describe('alerts', () => {
  test('a credit alert is sent once per fall below its threshold, also after a restart and by several gateways', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    await low(organisation)
    await Promise.all([1, 2, 3, 4].map(() => look()))
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, people.billing))
    await look()
    expect(await alertsOf(accountId)).toEqual([])
    // Credited and spent while no gateway runs: the next one to start finds it.
    await credit(accountId, 30)
    await spend(accountId, 30)
    await look(at(Date.now() + 7 * 3_600_000))
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, people.billing))
  })

  test('an alert is recorded in the same step as its mails; if the step fails, the next check repeats it', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    const { sql } = fixture.database
    await low(organisation)
    await sql`ALTER TABLE mails ADD CONSTRAINT no_mails CHECK (kind <> 'balance_low') NOT VALID`
    await expect(lookAt(fixture.database, accountId, Date.now())).rejects.toThrow()
    await sql`ALTER TABLE mails DROP CONSTRAINT no_mails`
    expect(await alertsOf(accountId)).toEqual([])
    await look()
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, people.billing))
  })

  test('a delayed alert is sent even if nothing more is spent', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    await low(organisation)
    await look()
    await alertsOf(accountId)
    await credit(accountId, 30)
    await spend(accountId, 30)
    await look()
    expect(await alertsOf(accountId)).toEqual([])
    await look(at(Date.now() + 6 * 3_600_000))
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, people.billing))
  })

  test('alerts use the account’s thresholds and are also sent to its further addresses', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    const change = { accountId, by: OPERATOR }
    expect(await changeThresholds(fixture.database, { ...change, first: nano(usd(2)) })).toBe('second_not_lower')
    const settings = { first: nano(usd(15)), second: null }
    await credit(accountId, 20)
    expect(await changeThresholds(fixture.database, { ...change, ...settings })).toBe('updated')
    expect(await readThresholds(fixture.database.db, accountId)).toEqual(settings)
    await setAlertAddresses(fixture.database, change, ['Team@Example.test'])
    await spend(accountId, 6)
    await look()
    const team = { email: 'team@example.test' }
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, people.billing, team))
    await spend(accountId, 13)
    await look()
    expect(await alertsOf(accountId)).toEqual([])
    const [entry] = await fixture.database
      .sql`SELECT details FROM audit_entries WHERE account_id = ${accountId} AND action = 'account.alerts'`
    expect(entry?.details).toMatchObject({ firstUsd: '15', secondUsd: null, 'before.firstUsd': '10' })
  })

  test('a removed member gets no new or waiting alert, not even at a confirmed further address', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    const change = { accountId, by: OPERATOR }
    const team = { email: 'team@example.test' }
    await setAlertAddresses(fixture.database, change, [people.billing.email.toUpperCase(), team.email])
    await low(organisation)
    await look()
    expect(await removeMember(fixture.database, { ...change, userId: people.billing.userId })).toMatchObject({
      kind: 'done',
    })
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, team))
    await spend(accountId, 8)
    await look()
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, team))
  })

  test('a threshold set above the credit alerts once, at the next check', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    await credit(accountId, 20)
    await look()
    expect(await alertsOf(accountId)).toEqual([])
    const change = { accountId, by: OPERATOR, first: nano(usd(50)) }
    expect(await changeThresholds(fixture.database, change)).toBe('updated_below')
    await Promise.all([look(), look()])
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, people.billing))
    await look()
    expect(await changeThresholds(fixture.database, change)).toBe('updated')
    await look()
    expect(await alertsOf(accountId)).toEqual([])
  })

  test('each person can turn each kind of alert off and on again', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    const { email } = people.billing
    await chooseMails(
      fixture.database,
      { accountId, email: email.toUpperCase(), kind: 'balance', isWanted: false },
      Date.now(),
    )
    expect(await readChoices(fixture.database, accountId, email)).toMatchObject({ balance: false, budget: true })
    await low(organisation)
    await look()
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner))
    await chooseMails(fixture.database, { accountId, email, kind: 'balance', isWanted: true }, Date.now())
    await spend(accountId, 8)
    await look()
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.owner, people.billing))
  })

  test('alerts are not sent to refused addresses, but security mails are, which nobody can turn off', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    await fixture.database.sql`INSERT INTO refused_mail_addresses (email, reason) VALUES (${people.owner.email}, '550')`
    await fixture.database.sql`INSERT INTO alert_opt_outs (account_id, email, kind)
      SELECT ${accountId}, ${people.viewer.email}, kind FROM unnest('{balance,budget,spend,key_expiry,role_changed,member_removed}'::text[]) kind`
    await low(organisation)
    await look()
    expect(await alertsOf(accountId)).toEqual(to('balance_low', people.billing))
    await removeMember(fixture.database, { accountId, userId: people.viewer.userId, by: OPERATOR })
    const rows = await fixture.database.sql`SELECT kind FROM mails WHERE recipient = ${people.viewer.email}`
    expect(rows.map(({ kind }) => kind)).toEqual(['member_removed'])
  })

  test('budget alerts also go to the member of the budget, or to the owner of the key', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const budgets = createBudgets(fixture.database, fixture.ledger)
    const { developer } = people
    const key = await fixture.apiKeys.create({ accountId, name: 'ci', createdBy: developer.userId })
    const keyId = key.kind === 'created' ? key.keyId : ''
    const limits = { day: nano(usd(10)) }
    for (const of of [
      { scope: 'account', scopeId: accountId },
      { scope: 'member', scopeId: developer.userId },
      { scope: 'key', scopeId: keyId },
    ] as const)
      expect(await budgets.change({ accountId, ...of, limits, by: OPERATOR })).toEqual({ kind: 'updated' })
    await credit(accountId, 100)
    await spend(accountId, 5, keyId)
    await fixture.database.sql`INSERT INTO usage_daily_members (account_id, day, member_id, requests, cost_nano)
      VALUES (${accountId}, current_date, ${developer.userId}, 1, ${usd(8)})`
    await look()
    const { owner, billing } = people
    // What one look finds is one mail to each.
    expect(await alertsOf(accountId)).toEqual(to('several_alerts', owner, billing, developer))
    await look()
    expect(await alertsOf(accountId)).toEqual([])
  })

  test('alerts of a key’s monthly budget use the key’s own limit', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const key = await fixture.apiKeys.create({ accountId, name: 'ci', monthlyBudget: nano(usd(10)) })
    const keyId = key.kind === 'created' ? key.keyId : ''
    const now = new Date()
    await credit(accountId, 100)
    await spend(accountId, 9, keyId)
    await fixture.database.sql`UPDATE api_keys SET spent_month_nano = ${usd(9)},
      spent_month = ${now.getUTCFullYear() * 100 + now.getUTCMonth() + 1} WHERE id = ${keyId}`
    await look()
    expect(await alertsOf(accountId)).toEqual(to('budget_reached', people.owner, people.billing))
  })

  test('an expiring key alerts 7 days and 1 day before its end, once each, and again for a new end', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const { owner, billing } = people
    const person = await join(fixture, accountId, 'developer')
    const nowMs = Date.now()
    const expiresAtMs = nowMs + 20 * DAY_MS
    const key = await fixture.apiKeys.create({ accountId, name: 'ci', createdBy: person.userId, expiresAtMs })
    expect(key.kind).toBe('created')
    const reminded = to('key_expires', owner, billing, person)
    for (const [days, expected] of [
      [12, []],
      [13.5, reminded],
      [14, []],
      [19.5, reminded],
      [19.6, []],
      [21, []],
    ] as const) {
      await Promise.all([look(at(nowMs + days * DAY_MS)), look(at(nowMs + days * DAY_MS))])
      expect([days, await alertsOf(accountId)]).toEqual([days, [...expected]])
    }
  })

  test('a key with a maximum age alerts before it ends, and again after a rotation', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const { database, ledger, apiKeys } = fixture
    const { owner, billing } = people
    await changeKeyPolicy(database, ledger, { accountId, policy: { maxKeyAgeDays: 30 }, by: OPERATOR })
    const nowMs = Date.now()
    const made = await apiKeys.create({ accountId, name: 'ci' })
    const sooner = await apiKeys.create({ accountId, name: 'ends by itself', expiresAtMs: nowMs + 2 * DAY_MS })
    if (made.kind !== 'created' || sooner.kind !== 'created') throw new Error(made.kind)
    await look(at(nowMs + 1.5 * DAY_MS))
    expect(await alertsOf(accountId)).toEqual(to('key_expires', owner, billing))
    const reminded = to('key_expires', owner, billing)
    for (const [days, expected] of [
      [22, []],
      [23.5, reminded],
      [28, []],
      [29.5, reminded],
      [31, []],
    ] as const) {
      await Promise.all([look(at(nowMs + days * DAY_MS)), look(at(nowMs + days * DAY_MS))])
      expect([days, await alertsOf(accountId)]).toEqual([days, [...expected]])
    }
    await database.sql`UPDATE api_keys SET secret_since = now() + interval '29 days' WHERE id = ${made.keyId}`
    await look(at(nowMs + 29.6 * DAY_MS))
    expect(await alertsOf(accountId)).toEqual([])
    await look(at(nowMs + 53 * DAY_MS))
    expect(await alertsOf(accountId)).toEqual(reminded)
  })

  test('a short-lived key alerts only within its life, and a deactivated key never', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const nowMs = Date.now()
    const expiresAtMs = nowMs + 3 * DAY_MS
    const key = await fixture.apiKeys.create({ accountId, name: 'short', expiresAtMs })
    const other = await fixture.apiKeys.create({ accountId, name: 'off', expiresAtMs })
    if (other.kind === 'created') await fixture.apiKeys.deactivate(other.keyId, accountId, OPERATOR)
    expect(key.kind).toBe('created')
    await look(at(nowMs))
    expect(await alertsOf(accountId)).toEqual([])
    await look(at(nowMs + 2.5 * DAY_MS))
    expect(await alertsOf(accountId)).toEqual(to('key_expires', people.owner, people.billing))
  })

  test('an account without members gets no alert', async () => {
    const user = await newUser(fixture)
    await fixture.database.sql`UPDATE users SET disabled_at = now() WHERE id = ${user.userId}`
    await credit(user.accountId, 20)
    await spend(user.accountId, 11)
    await look()
    expect(await alertsOf(user.accountId)).toEqual([])
  })
})
