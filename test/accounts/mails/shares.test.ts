/** Limits on mails, their recipients and their order: on a real Postgres and a real SMTP server. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { newUser } from '@test/accounts/members/people'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { Glob } from 'bun'
import { createMailDesk, writeMails } from '@/accounts/mails/outbox'
import { MAIL_RULES } from '@/accounts/mails/rules'
import { MAIL_KINDS, type NewMail } from '@/accounts/mails/templates'
import { createMailTransport } from '@/accounts/mails/transport'
import { createMailWorker } from '@/accounts/mails/worker'
import { createLogger } from '@/lib/logger'
import { SHARED } from '@/limits/shared-resources'
import { SAMPLES } from './samples'

const SECRET = async () => ['a secret that is long enough for anybody'] as const
const logger = createLogger({ level: 'info', service: 'test', write: () => undefined })

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
beforeEach(async () => {
  await fixture.database.sql`DELETE FROM mails`
})
afterAll(() => fixture.close())

const desk = createMailDesk(SECRET, () => undefined)

/** Sends what is due, and stops once `isDone`. Returns what was sent. */
async function send(isDone: (mails: MailServer['mails']) => unknown): Promise<MailServer['mails']> {
  const server = await startMailServer()
  const transport = createMailTransport({ smtpUrl: server.url, from: 'svc <mail@gateway.example.test>' }, true, logger)
  const { database } = fixture
  const worker = createMailWorker({
    ...{ database, transport, secrets: SECRET, publicUrl: 'https://gateway.example.test', service: 'svc', logger },
    onOutcome: () => undefined,
  })
  worker.start()
  await until(async () => Boolean(await isDone(server.mails)), 'the mails')
  await worker.stop()
  await server.stop()
  return server.mails
}

const budget = (accountId: string, scopeName: string) => ({
  kind: 'budget_reached' as const,
  facts: {
    ...{ accountId, accountName: 'Win now', scope: 'key' as const, scopeName, window: 'day' as const, percent: 50 },
    ...{ spent: '0.00 USD', limit: '0.00 USD', endsAt: '' },
  },
})

test('a password reset mail is sent before an account’s many mails to unconfirmed addresses', async () => {
  const attacker = await newUser(fixture)
  const victim = await newUser(fixture)
  const strangers = Array.from({ length: 5 }, (_, index) => `stranger${index}@example.test`)
  for (let turn = 0; turn < 40; turn++)
    await writeMails(fixture.database.db, budget(attacker.accountId, `key ${turn}`), [...strangers, attacker.email])
  const link = { token: 'abc', origin: '' }
  await desk.post(fixture.database.db, victim.email, { kind: 'reset_password', facts: {} }, link)
  const sent = await send((mails) => mails.length > 5 && mails.some(({ to }) => to === victim.email))
  expect(sent.filter(({ to }) => strangers.includes(to))).toEqual([])
  expect(sent.slice(0, 5).map(({ to }) => to)).toContain(victim.email)
})

test.each(MAIL_KINDS)(
  'a mail of the kind %s is only sent to the recipients that the table of mails names',
  async (kind) => {
    const { sql, db } = fixture.database
    const [member, unconfirmed] = [await newUser(fixture), await newUser(fixture)]
    const { accountId } = member
    await sql`UPDATE users SET email_verified = false WHERE id = ${unconfirmed.userId}`
    const own = (name: string) => `${name}-${accountId.toLowerCase()}@example.test`
    await sql`INSERT INTO alert_addresses (account_id, email, confirmed_at, token_hash, confirm_until) VALUES
    (${accountId}, ${own('confirmed')}, now(), NULL, NULL), (${accountId}, ${own('waiting')}, NULL, ${accountId}, now() + interval '1 day')`
    const other = await newUser(fixture)
    await sql`INSERT INTO alert_addresses (account_id, email, confirmed_at) VALUES (${other.accountId}, ${own('other')}, now())`
    const sample = SAMPLES.find((one) => one.kind === kind)
    if (!sample) throw new Error(`no sample of ${kind}`)
    const mail = 'accountId' in sample.facts ? { kind, facts: { ...sample.facts, accountId } } : sample
    const all = [member.email, unconfirmed.email, own('confirmed'), own('waiting'), own('other'), own('stranger')]
    await writeMails(db, mail as NewMail, all, { accountId })
    const rows = await sql<{ recipient: string }[]>`SELECT recipient FROM mails WHERE kind = ${kind}`
    const expected = {
      typed: all,
      former: all,
      own: [member.email],
      alerts: [member.email, own('confirmed')],
    }[MAIL_RULES[kind].to]
    expect(rows.map(({ recipient }) => recipient).sort()).toEqual([...expected].sort())
  },
)

test('unconfirmed addresses only get confirmation requests and invitations', () => {
  const of = (to: string) => MAIL_KINDS.filter((kind) => MAIL_RULES[kind].to === to).sort()
  expect(of('typed')).toEqual([
    ...(['address_in_use', 'already_registered', 'confirm_address', 'confirm_alerts'] as const),
    ...(['invitation', 'reset_password', 'verify_email'] as const),
  ])
  expect(of('former')).toEqual(['address_changed', 'address_put_back'])
})

test('an account above its hourly limit delays only its own mails of that kind', async () => {
  const { sql, db } = fixture.database
  const { accountId, email } = await newUser(fixture)
  const other = await newUser(fixture)
  const { perAccount } = SHARED.mails
  const due = async () =>
    await sql<{ kind: string; recipient: string; hours: number }[]>`
      SELECT kind, recipient, round(extract(epoch FROM due_at - created_at) / 3600)::int AS hours FROM mails ORDER BY rank, kind`
  for (let turn = 0; turn < 2 * perAccount; turn++) await writeMails(db, budget(accountId, `key ${turn}`), [email])
  expect((await due()).map(({ hours }) => hours)).toEqual([...Array(perAccount).fill(0), ...Array(perAccount).fill(1)])
  await writeMails(db, budget(other.accountId, 'ci'), [other.email])
  const facts = { accountName: 'Engines', name: 'ci', scopes: '', by: 'ada@example.test' }
  await writeMails(db, { kind: 'management_key_made', facts }, [email], { accountId })
  // Both come before all but the first of the mails that were there already.
  const rows = await due()
  expect(
    rows
      .slice(0, 3)
      .map(({ kind, recipient }) => `${kind} ${recipient}`)
      .sort(),
  ).toEqual([`budget_reached ${email}`, `budget_reached ${other.email}`, `management_key_made ${email}`].sort())
  expect(rows.slice(0, 3).map(({ hours }) => hours)).toEqual([0, 0, 0])
  // Once they were sent they count for an hour.
  await sql`UPDATE mails SET state = 'sent', ended_at = now() - interval '59 minutes' WHERE owner = ${accountId}`
  await writeMails(db, budget(accountId, 'later'), [email])
  expect((await due()).at(-1)).toMatchObject({ hours: 2 })
  await sql`UPDATE mails SET ended_at = now() - interval '61 minutes' WHERE state = 'sent'`
  await sql`DELETE FROM mails WHERE state = 'waiting'`
  await writeMails(db, budget(accountId, 'an hour later'), [email])
  expect((await due()).filter(({ hours }) => hours === 2)).toEqual([])
})

test('a mail that would expire before it could be sent is not written to the outbox', async () => {
  const { sql, db } = fixture.database
  const { accountId, email } = await newUser(fixture)
  const rows = 24 * SHARED.mails.perAccount
  await sql`INSERT INTO mails (id, event_id, recipient, kind, facts, owner, rank, expires_at)
    SELECT 'mail_' || n, n::text, ${email}, 'export_daily', '{}', ${accountId}, 1, now() + interval '1 day' FROM generate_series(1, ${rows}::int) n`
  const period = { accountId, accountName: 'Engines', from: '2026-03-02', to: '2026-03-02', isOwn: 0 }
  await writeMails(db, { kind: 'export_daily', facts: period }, [email])
  await writeMails(db, { kind: 'export_monthly', facts: period }, [email])
  const written = await sql`SELECT kind FROM mails WHERE id NOT LIKE 'mail\\_%' OR kind <> 'export_daily'`
  expect(written.map(({ kind }) => kind)).toEqual(['export_monthly'])
})

test('only the outbox and its worker write and send mails', async () => {
  const found: Record<string, string[]> = {}
  const root = join(import.meta.dir, '../../../src')
  for (const path of [...new Glob('**/*.{ts,tsx,sql}').scanSync(root)].sort()) {
    const text = await Bun.file(join(root, path)).text()
    for (const [what, pattern] of Object.entries(DOORS))
      if (pattern.test(text)) found[what] = [...(found[what] ?? []), path]
  }
  expect(found).toEqual({
    'writes a row': ['accounts/mails/outbox.ts'],
    'hands a mail to the server': ['accounts/mails/worker.ts'],
    'knows the library': ['accounts/mails/transport.ts'],
    'makes a transport': ['accounts/mails/transport.ts', 'boot/mails.ts'].sort(),
  })
})

const DOORS = {
  'writes a row': /insert\(mails\)|INSERT INTO mails\b/,
  'hands a mail to the server': /transport\.send\(/,
  'knows the library': /'nodemailer'/,
  'makes a transport': /createMailTransport\(/,
}
