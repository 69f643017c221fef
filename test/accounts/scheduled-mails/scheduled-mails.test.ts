/** Scheduled mails on a real Postgres: one per period despite restarts, sums equal to the statement's, and content by the member's role. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { newOrganisation, type Organisation, type User } from '@test/accounts/members/people'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { createAlertWorker } from '@/accounts/alerts/worker'
import { readStatement } from '@/console/usage-views/account-statement/read-statement'
import { SCHEDULED_KINDS, type ScheduledKind } from '@/db/alert-schema'
import { systemClock } from '@/lib/clock'
import { formatUsd, nano } from '@/lib/money'
import { chooseMails, readScheduled } from '@/people/alerts/choices'
import { changeRole, removeMember } from '@/people/members/change-members'

const OPERATOR = { actor: { userId: null, email: 'operator' } }
const HOUR_MS = 3_600_000
/** A Thursday; the week before it is 2 to 8 March. */
const ASKED_MS = Date.parse('2026-03-05T12:00:00Z')
const MONDAY_MS = Date.parse('2026-03-09T00:00:00Z')
let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
afterAll(() => fixture.close())

type Use = { day: string; cost: number; requests?: number; keyId?: string; model?: string; memberId?: string }

/** As a flusher books it. */
async function use(
  accountId: string,
  { day, cost, requests = 1, keyId = 'key_1', model = 'svc/alpha', memberId }: Use,
) {
  const { sql } = fixture.database
  await sql`UPDATE accounts SET balance_nano = balance_nano - ${cost}, spent_nano = spent_nano + ${cost} WHERE id = ${accountId}`
  await sql`INSERT INTO usage_daily (account_id, day, key_id, model, requests, errors, uncached_tokens, cache_read_tokens, cache_write_5m_tokens,
      cache_write_1h_tokens, output_tokens, reasoning_tokens, cost_nano, duration_ms, first_token_ms, first_token_count, member_id)
    VALUES (${accountId}, ${day}, ${keyId}, ${model}, ${requests}, 0, 0, 0, 0, 0, 0, 0, ${cost}, 0, 0, 0, ${memberId ?? ''})`
  if (memberId !== undefined)
    await sql`INSERT INTO usage_daily_members (account_id, day, member_id, requests, cost_nano)
      VALUES (${accountId}, ${day}, ${memberId}, ${requests}, ${cost})`
}

const choose = ({ accountId }: { accountId: string }, { email }: User, kind: ScheduledKind, isWanted = true) =>
  chooseMails(fixture.database, { accountId, email, kind, isWanted }, ASKED_MS)

function gateway(nowMs: number, bookedUntilMs = nowMs) {
  const clock = { ...systemClock, now: () => nowMs }
  const deps = { database: fixture.database, clock, logger: silentLogger, bookedUntilMs: () => bookedUntilMs }
  return createAlertWorker(deps)
}

type Sent = { kind: string; recipient: string; facts: Record<string, unknown> }

/** The mails of the account so far, and none before them. */
async function mailsOf({ accountId }: { accountId: string }): Promise<Sent[]> {
  const rows = await fixture.database.sql<Sent[]>`
    DELETE FROM mails WHERE facts->>'accountId' = ${accountId} RETURNING kind, recipient, facts`
  const placeOf = ({ recipient, kind }: Sent) => `${recipient} ${kind}`
  return [...rows].sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
}
const sent = (mails: Sent[]) => mails.map(({ kind, recipient }) => `${kind} ${recipient}`)

/** With some usage in each of the two weeks before Monday, by two keys. */
async function organisationInUse(): Promise<Organisation & { keys: string[] }> {
  const organisation = await newOrganisation(fixture)
  const { accountId, people } = organisation
  const keys: string[] = []
  for (const [name, person] of [
    ['ci', people.developer],
    ['web', people.admin],
  ] as const) {
    const made = await fixture.apiKeys.create({ accountId, name, createdBy: person.userId })
    keys.push(made.kind === 'created' ? made.keyId : '')
  }
  const [ci = '', web = ''] = keys
  await fixture.credits.addCredit({ accountId, amount: nano(100_000_000_000), reference: 'paid' })
  await use(accountId, {
    day: '2026-02-24',
    cost: 2_000_000_000,
    requests: 4,
    keyId: web,
    memberId: people.admin.userId,
  })
  await use(accountId, { day: '2026-03-01', cost: 1, keyId: ci, memberId: people.developer.userId })
  await use(accountId, { day: '2026-03-02', cost: 1_000_000_001, keyId: ci, memberId: people.developer.userId })
  const others = { day: '2026-03-08', requests: 9, keyId: web, memberId: people.admin.userId }
  await use(accountId, { ...others, cost: 4_000_000_000, model: 'svc/beta' })
  await use(accountId, { day: '2026-03-09', cost: 700_000_000, keyId: web })
  return { ...organisation, keys }
}

describe('scheduled digests', () => {
  test('each subscriber gets one digest per period, however many gateways run and restart', async () => {
    const organisation = await organisationInUse()
    const { owner, billing } = organisation.people
    expect(await readScheduled(fixture.database, organisation.accountId, owner.email)).toEqual(
      Object.fromEntries(SCHEDULED_KINDS.map((kind) => [kind, false])) as Record<ScheduledKind, boolean>,
    )
    await choose(organisation, owner, 'digest_weekly')
    await choose(organisation, billing, 'digest_weekly')
    await choose(organisation, billing, 'digest_weekly')
    await gateway(MONDAY_MS + HOUR_MS - 1).runOnce()
    expect(await mailsOf(organisation)).toEqual([])
    await Promise.all([1, 2, 3, 4].map(() => gateway(MONDAY_MS + HOUR_MS).runOnce()))
    const expected = [owner, billing].map(({ email }) => `digest_weekly ${email}`).sort()
    expect(sent(await mailsOf(organisation))).toEqual(expected)
    await gateway(MONDAY_MS + 3 * 24 * HOUR_MS).runOnce()
    expect(await mailsOf(organisation)).toEqual([])
    await gateway(MONDAY_MS + 7 * 24 * HOUR_MS + HOUR_MS).runOnce()
    expect(sent(await mailsOf(organisation))).toEqual(expected)
  })

  test('a digest is recorded in the transaction of its mails; if that fails, the next round repeats it', async () => {
    const organisation = await organisationInUse()
    const { sql } = fixture.database
    await choose(organisation, organisation.people.owner, 'digest_weekly')
    await sql`ALTER TABLE mails ADD CONSTRAINT no_digests CHECK (kind <> 'digest_weekly') NOT VALID`
    await expect(gateway(MONDAY_MS + HOUR_MS).runOnce()).rejects.toThrow()
    await sql`ALTER TABLE mails DROP CONSTRAINT no_digests`
    await gateway(MONDAY_MS + 30 * HOUR_MS).runOnce()
    expect(sent(await mailsOf(organisation))).toEqual([`digest_weekly ${organisation.people.owner.email}`])
  })

  test('a digest that fails does not delay other digests', async () => {
    const organisation = await organisationInUse()
    const { owner, billing, admin } = organisation.people
    const { sql } = fixture.database
    for (const person of [owner, billing, admin]) await choose(organisation, person, 'digest_weekly')
    await sql.unsafe(`ALTER TABLE mails ADD CONSTRAINT no_digest CHECK (recipient <> '${billing.email}') NOT VALID`)
    await expect(gateway(MONDAY_MS + HOUR_MS).runOnce()).rejects.toThrow()
    await sql`ALTER TABLE mails DROP CONSTRAINT no_digest`
    expect(sent(await mailsOf(organisation))).toEqual(
      [owner, admin].map(({ email }) => `digest_weekly ${email}`).sort(),
    )
    await gateway(MONDAY_MS + HOUR_MS).runOnce()
    expect(sent(await mailsOf(organisation))).toEqual([`digest_weekly ${billing.email}`])
  })

  test('a digest waits until all usage of its period is booked', async () => {
    const organisation = await organisationInUse()
    await choose(organisation, organisation.people.owner, 'digest_weekly')
    await gateway(MONDAY_MS + 5 * HOUR_MS, MONDAY_MS - 1).runOnce()
    expect(await mailsOf(organisation)).toEqual([])
    await gateway(MONDAY_MS + 5 * HOUR_MS, MONDAY_MS).runOnce()
    expect(await mailsOf(organisation)).toHaveLength(1)
  })

  test('a digest adds up to the account statement of the same days, to the nano-USD', async () => {
    const organisation = await organisationInUse()
    const { accountId, people } = organisation
    await choose(organisation, people.owner, 'digest_weekly')
    await gateway(MONDAY_MS + HOUR_MS).runOnce()
    const [mail] = await mailsOf(organisation)
    const period = { accountId, from: '2026-03-02', to: '2026-03-08' }
    const statement = await readStatement(fixture.database, silentLogger, period, { limit: 100 })
    expect(formatUsd(statement?.spent ?? nano(0))).toBe('5.000000001')
    expect(mail?.facts).toMatchObject({
      ...{ from: '2026-03-02', to: '2026-03-08', isOwn: 0 },
      cost: '5.00 USD (week before: 2.00 USD, +150 %)',
      requests: '10 (week before: 5, +100 %)',
      models: [
        ['svc/beta', '4.00 USD'],
        ['svc/alpha', '1.00 USD'],
      ],
      keys: [
        ['web', '4.00 USD'],
        ['ci', '1.00 USD'],
      ],
      credit: '92.29 USD',
      // 92.29 USD at 5.00 USD in seven days are 129 days.
      lastsUntil: '2026-07-16',
    })
    expect(mail?.facts.members).toHaveLength(2)
  })

  test('a digest lists the top five models, keys and members, and the sum of the rest', async () => {
    const organisation = await newOrganisation(fixture)
    for (let index = 1; index <= 7; index++)
      await use(organisation.accountId, { day: '2026-03-03', cost: index, model: `svc/model-${index}`, keyId: 'gone' })
    await choose(organisation, organisation.people.viewer, 'digest_weekly')
    await gateway(MONDAY_MS + HOUR_MS).runOnce()
    const [mail] = await mailsOf(organisation)
    expect(mail?.facts).toMatchObject({
      cost: '0.000000028 USD (week before: 0.00 USD)',
      models: [7, 6, 5, 4, 3]
        .map((index) => [`svc/model-${index}`, `0.00000000${index} USD`])
        .concat([['All others', '0.000000003 USD']]),
      keys: [['All others', '0.000000028 USD']],
      members: [],
    })
  })

  test('a developer’s digest covers only their own keys, without credit or members', async () => {
    const organisation = await organisationInUse()
    const { accountId, people } = organisation
    await choose(organisation, people.developer, 'digest_weekly')
    await gateway(MONDAY_MS + HOUR_MS).runOnce()
    const [mail] = await mailsOf(organisation)
    expect(mail?.facts).toMatchObject({
      ...{ isOwn: 1, cost: '1.00 USD (week before: 0.000000001 USD, more than 10 times as much)' },
      ...{ models: [['svc/alpha', '1.00 USD']], keys: [['ci', '1.00 USD']], members: [], credit: '', lastsUntil: '' },
    })
    await changeRole(fixture.database, { accountId, userId: people.developer.userId, by: OPERATOR }, 'viewer', 'keep')
    await gateway(MONDAY_MS + 7 * 24 * HOUR_MS + HOUR_MS).runOnce()
    expect((await mailsOf(organisation))[0]?.facts).toMatchObject({ isOwn: 0, keys: [['web', '0.70 USD']] })
  })

  test('a period without usage has no digest and is skipped', async () => {
    const organisation = await newOrganisation(fixture)
    await choose(organisation, organisation.people.owner, 'digest_weekly')
    await gateway(MONDAY_MS + HOUR_MS).runOnce()
    expect(await mailsOf(organisation)).toEqual([])
    await use(organisation.accountId, { day: '2026-03-08', cost: 5 })
    await gateway(MONDAY_MS + 2 * HOUR_MS).runOnce()
    expect(await mailsOf(organisation)).toEqual([])
  })

  test('a person gets no digest after turning it off, leaving the account, or if their address refuses mails', async () => {
    const organisation = await organisationInUse()
    const { accountId, people } = organisation
    const { owner, admin, viewer, billing } = people
    for (const person of [owner, admin, viewer, billing]) await choose(organisation, person, 'digest_weekly')
    await choose(organisation, admin, 'digest_weekly', false)
    await removeMember(fixture.database, { accountId, userId: viewer.userId, by: OPERATOR })
    await fixture.database.sql`INSERT INTO refused_mail_addresses (email, reason) VALUES (${billing.email}, '550')`
    await gateway(MONDAY_MS + HOUR_MS).runOnce()
    expect(sent(await mailsOf(organisation))).toEqual([`digest_weekly ${owner.email}`])
    // Whoever is no member gets none by asking.
    await choose(organisation, viewer, 'digest_weekly')
    expect(await readScheduled(fixture.database, accountId, viewer.email)).toMatchObject({ digest_weekly: false })
  })
})

test('an export mail is sent after each day, week or month with usage, and links to that period', async () => {
  const organisation = await organisationInUse()
  const { owner } = organisation.people
  for (const kind of ['export_daily', 'export_weekly', 'export_monthly'] as const)
    await choose(organisation, owner, kind)
  const found: string[] = []
  for (let hours = 0; hours < 31 * 24; hours += 6) {
    await gateway(ASKED_MS + hours * HOUR_MS).runOnce()
    for (const { kind, facts } of await mailsOf(organisation)) found.push(`${kind} ${facts.from} ${facts.to}`)
  }
  expect(found).toEqual([
    'export_daily 2026-03-08 2026-03-08',
    'export_weekly 2026-03-02 2026-03-08',
    'export_daily 2026-03-09 2026-03-09',
    'export_weekly 2026-03-09 2026-03-15',
    'export_monthly 2026-03-01 2026-03-31',
  ])
})
