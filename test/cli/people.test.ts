/** Operator commands for people, and the audit entries of all commands: no passwords, and one entry per change. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { readInvitation } from '@/people/members/answer-invitation'
import { invite } from '@/people/members/invitations'
import { type Outcome, run } from './run'

let redis: TestServer
let stores: Record<string, string>
let fixture: Fixture

beforeAll(async () => {
  redis = await startRedis()
  const databaseUrl = await freshDatabase()
  stores = { REDIS_URL: redis.url, DATABASE_URL: databaseUrl }
  fixture = await openFixture(redis.url, databaseUrl)
})
afterAll(async () => {
  await fixture.close()
  await redis.stop()
})

describe('a password from standard input', () => {
  const create = (email: string) => ['user', 'create', '--email', email]

  test('the password is the first line of standard input, and must have a valid length', async () => {
    const { json } = await run(create('lines@example.test'), stores, 'first line counts\r\nnot this one\n')
    const [row] = await fixture.database
      .sql`SELECT password_hash FROM credentials WHERE user_id = ${String(json.userId)}`
    expect(await Bun.password.verify('first line counts', row?.password_hash)).toBe(true)
    const short = await run(create('short@example.test'), stores, 'short\n')
    expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('must have 8 to 256 characters') })
    const production = { ...stores, NODE_ENV: 'production' }
    const weak = await run(create('weak@example.test'), production, 'password1\n')
    expect(weak).toMatchObject({ code: 2, stderr: expect.stringContaining('first guesses') })
  })

  test('a new password replaces the old one and ends all sessions and links', async () => {
    const email = 'rotated@example.test'
    const { json } = await run(create(email), stores, 'the first password')
    const userId = String(json.userId)
    const { sql } = fixture.database
    await sql`INSERT INTO sessions (id, token, user_id, expires_at)
      VALUES ('sess_rotated', 'hash', ${userId}, now() + interval '1 day')`
    await sql`INSERT INTO verifications (id, identifier, value, expires_at)
      VALUES ('proof_rotated', 'hash', ${userId}, now() + interval '1 day')`
    expect((await run(['user', 'set-password', '--email', email], stores, 'the second password')).json).toEqual({
      email,
    })
    const [row] = await sql`SELECT password_hash,
      (SELECT count(*)::int FROM sessions WHERE user_id = ${userId}) AS sessions,
      (SELECT count(*)::int FROM verifications WHERE value = ${userId}) AS links
      FROM credentials WHERE user_id = ${userId}`
    expect(row).toMatchObject({ sessions: 0, links: 0 })
    expect(await Bun.password.verify('the second password', row?.password_hash)).toBe(true)
  })

  test('user reset-2fa removes a lost authenticator app', async () => {
    const email = 'lost-phone@example.test'
    const { json } = await run(create(email), stores, 'a horse on a battery')
    const { sql } = fixture.database
    const userId = String(json.userId)
    await sql`INSERT INTO two_factors (id, user_id, secret, backup_codes) VALUES ('f1', ${userId}, 's', 'c')`
    await sql`UPDATE users SET two_factor_enabled = true WHERE id = ${userId}`
    expect((await succeed(`user reset-2fa --email ${email}`)).json).toEqual({ email })
    const [row] = await sql`SELECT two_factor_enabled FROM users WHERE id = ${userId}`
    expect(row?.two_factor_enabled).toBe(false)
    expect(await sql`SELECT 1 FROM two_factors WHERE user_id = ${userId}`).toHaveLength(0)
  })
})

describe('the change of a person’s address', () => {
  test('user set-email changes the sign-in address and mails the former one; an address in use is refused', async () => {
    const [email, to] = ['before@example.test', 'after@example.test']
    const { json } = await run(['user', 'create', '--email', email], stores, 'a horse on a battery')
    const { sql } = fixture.database
    const userId = String(json.userId)
    await sql`INSERT INTO sessions (id, token, user_id, expires_at)
      VALUES ('sess_before', 'hash of before', ${userId}, now() + interval '1 day')`
    expect((await succeed(`user set-email --email ${email} --to ${to.toUpperCase()}`)).json).toMatchObject({ email })
    const [user] = await sql`SELECT users.email, accounts.email AS account_email FROM users
      JOIN accounts ON accounts.id = account_id WHERE users.id = ${userId}`
    expect(user).toEqual({ email: to, account_email: to })
    expect(await sql`SELECT 1 FROM sessions WHERE user_id = ${userId}`).toHaveLength(0)
    expect(await sql`SELECT 1 FROM mails WHERE recipient = ${email} AND kind = 'address_changed'`).toHaveLength(1)
    expect(await run(['user', 'set-email', '--email', email, '--to', 'x@example.test'], stores)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(`no user with the address ${email}`) },
    })
    await run(['user', 'create', '--email', email], stores, 'a horse on a battery')
    expect(await run(['user', 'set-email', '--email', to, '--to', email], stores)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(`the address ${email} is in use`) },
    })
  })
})

describe('disabling a person', () => {
  const email = 'gone@example.test'

  test('a disabled person loses sessions and the keys of their own account; enabling restores neither', async () => {
    const { json } = await run(['user', 'create', '--email', email], stores, 'a horse on a battery')
    const { sql } = fixture.database
    const userId = String(json.userId)
    const [user] = await sql`SELECT account_id FROM users WHERE id = ${userId}`
    const accountId = String(user?.account_id)
    const { json: key } = await succeed(`key create --account ${accountId} --name theirs --monthly-budget-usd none`)
    const keyId = String(key.keyId)
    await sql`INSERT INTO sessions (id, token, user_id, expires_at)
      VALUES ('sess_gone', 'hash of gone', ${userId}, now() + interval '1 day')`
    expect((await succeed(`user disable --email ${email} --keys keep`)).json).toEqual({
      ...{ email, isDisabled: true, deactivatedKeys: [] },
    })
    expect(await sql`SELECT 1 FROM sessions WHERE user_id = ${userId}`).toHaveLength(0)
    expect((await succeed(`user disable --email ${email}`)).json.deactivatedKeys).toEqual([keyId])
    expect((await fixture.ledger.readKey({ accountId, keyId }))?.status).toBe('deactivated')
    expect((await succeed(`user show ${email}`)).json).toMatchObject({ userId, isDisabled: true, sessions: 0 })
    expect((await succeed(`user enable --email ${email}`)).json).toEqual({ email, isDisabled: false })
    expect((await fixture.ledger.readKey({ accountId, keyId }))?.status).toBe('deactivated')
  })

  test('a disabled person loses their keys and sent invitations in a shared account', async () => {
    const [colleague, leaving] = ['stays@example.test', 'leaves@example.test']
    const { sql } = fixture.database
    for (const address of [colleague, leaving])
      await run(['user', 'create', '--email', address], stores, 'a horse on a battery')
    const [user] = await sql`SELECT id, account_id FROM users WHERE email = ${colleague}`
    const [other] = await sql`SELECT id FROM users WHERE email = ${leaving}`
    const [accountId, ownerId, userId] = [String(user?.account_id), String(user?.id), String(other?.id)]
    await sql`UPDATE accounts SET kind = 'organisation', company = '{"name":"Team","country":"DE","vatId":null}'
      WHERE id = ${accountId}`
    await sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${userId}, 'admin')`
    const ofMember = await fixture.apiKeys.create({ accountId, name: 'theirs', createdBy: userId })
    const ofOwner = await fixture.apiKeys.create({ accountId, name: 'another', createdBy: ownerId })
    if (ofMember.kind !== 'created' || ofOwner.kind !== 'created') throw new Error('no key was made')
    const by = { actor: { userId, email: leaving } }
    const guest = { actor: { userId: ownerId, email: colleague } }
    const sent = await invite(fixture.database, { accountId, by }, { email: 'guest@example.test', role: 'admin' })
    if (sent.kind !== 'sent') throw new Error(sent.kind)
    await sql`INSERT INTO users (id, name, email, email_verified) VALUES ('user_guest', 'Guest', 'guest@example.test', true)`
    const asked = { token: sent.invitation.token, by: { actor: { ...guest.actor, userId: 'user_guest' } } }
    expect(await readInvitation(fixture.database, asked)).toMatchObject({ kind: 'open' })
    expect((await succeed(`user disable --email ${leaving}`)).json.deactivatedKeys).toEqual([ofMember.keyId])
    expect((await fixture.ledger.readKey({ accountId, keyId: ofOwner.keyId }))?.status).toBe('active')
    expect(await readInvitation(fixture.database, asked)).toEqual({ kind: 'invalid' })
  })

  test('disabling a person keeps other members’ keys', async () => {
    const [user] = await fixture.database.sql`SELECT account_id FROM users WHERE email = ${email}`
    const accountId = String(user?.account_id)
    const { json: key } = await succeed(`key create --account ${accountId} --name shared --monthly-budget-usd none`)
    await fixture.database.sql`INSERT INTO users (id, name, email, account_id)
      VALUES ('user_colleague', 'Colleague', 'colleague@example.test', ${accountId})`
    expect((await succeed(`user disable --email ${email}`)).json.deactivatedKeys).toEqual([])
    expect((await fixture.ledger.readKey({ accountId, keyId: String(key.keyId) }))?.status).toBe('active')
  })
})

test('every command on money, keys, people or limits writes one audit entry with its run id', async () => {
  const { sql } = fixture.database
  const entries = async () =>
    await sql<{ action: string; actor_email: string; request_id: string | null; details: Record<string, unknown> }[]>`
      SELECT action, actor_email, request_id, details FROM audit_entries ORDER BY seq`
  const before = (await entries()).length
  const { json: account } = await succeed('account create --email audited@example.test --name Audited')
  const credit = `credit add --account ${account.accountId} --usd 12.5 --reference invoice-9`
  await succeed(credit)
  // Adds nothing, and so has nothing to note.
  await succeed(credit)
  await succeed(`account suspend --account ${account.accountId}`)
  await succeed(`account activate --account ${account.accountId}`)
  await succeed(`account limits --account ${account.accountId} --concurrency 5 --reason asked-for`)
  const { json: key } = await succeed(
    `key create --account ${account.accountId} --name ci --monthly-budget-usd none --concurrency 3`,
  )
  await succeed(`key deactivate --key ${key.keyId}`)
  await succeed(`key activate --key ${key.keyId}`)
  await succeed(`key delete --key ${key.keyId}`)
  await run(['user', 'create', '--email', 'audited@example.test'], stores, 'a horse on a battery')
  await run(['user', 'set-password', '--email', 'audited@example.test'], stores, 'another horse entirely')
  await succeed('user reset-2fa --email audited@example.test')
  await succeed('user set-role --email audited@example.test --role admin')
  await succeed('user set-email --email audited@example.test --to renamed@example.test')
  await succeed('user set-email --email renamed@example.test --to audited@example.test')
  await succeed('user disable --email audited@example.test')
  await succeed('user enable --email audited@example.test')
  await succeed('ledger rebuild')
  const made = (await entries()).slice(before)
  expect(made.map((entry) => entry.action)).toEqual([
    ...['account.create', 'credit.add', 'account.suspend', 'account.activate', 'account.limits'],
    ...['key.create', 'key.deactivate', 'key.activate', 'key.delete'],
    ...['user.create', 'user.set_password', 'user.reset_totp', 'user.set_role'],
    ...['user.set_email', 'user.set_email', 'user.disable', 'user.enable', 'ledger.rebuild'],
  ])
  for (const entry of made) {
    expect(entry.actor_email).toBe('operator')
    expect(entry.request_id).toMatch(/^cmd_/)
    expect(JSON.stringify(entry.details)).not.toMatch(/horse|battery/)
  }
  expect(new Set(made.map((entry) => entry.request_id)).size).toBe(made.length)
  expect(made[1]?.details).toMatchObject({ amount: '12.5', reference: 'invoice-9' })
})

async function succeed(line: string): Promise<Outcome> {
  const outcome = await run(line.split(' '), stores)
  expect(outcome).toMatchObject({ code: 0, stderr: '' })
  return outcome
}
