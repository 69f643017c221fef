/**
 * Keys found in public: the report's answer reveals nothing, the key's people get a mail, its link works once by POST
 * only, and the text is stored nowhere.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { until } from '@test/support/until'
import { generateKey, generateProgramKey } from '@/accounts/key-text'
import { createUser } from '@/accounts/users'

const ORIGIN = 'http://gateway.test'
const LINK = /gateway\.test\/dashboard\/leaked-key\/off#token=(\w{32})/
let server: MailServer
let gateway: TestGateway

beforeAll(async () => {
  server = await startMailServer()
  const environment = {
    ...{ SMTP_URL: server.url, MAIL_FROM: 'svc@example.test', PUBLIC_URL: ORIGIN, TRUSTED_PROXY_HOPS: '1' },
  }
  gateway = await startGateway({ respond: () => new Response('{}'), environment })
})
afterAll(async () => {
  await gateway.stop()
  await server.stop()
})

let addresses = 0
const newAddress = () => `203.0.113.${++addresses}`

function post(path: string, body: object, from = newAddress()): Promise<Response> {
  const headers = { 'content-type': 'application/json', origin: ORIGIN, 'x-forwarded-for': from }
  return fetch(`${gateway.url}/dashboard/api/leaked-keys/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
}
const report = (key: string, from?: string) => post('report', { key }, from)

type Owned = { accountId: string; email: string; userId: string; key: string; keyId: string }

/** Somebody with an account and a key. */
async function owned(): Promise<Owned> {
  const { database } = gateway.gateway
  const email = `${crypto.randomUUID()}@example.test`
  const user = await createUser(database, { email, password: 'a horse on a battery' })
  if (user.kind !== 'created') throw new Error(user.kind)
  const { userId } = user
  const [row] = await database.sql<
    { accountId: string }[]
  >`SELECT account_id AS "accountId" FROM users WHERE id = ${userId}`
  const accountId = row?.accountId ?? ''
  const made = await gateway.apiKeys.create({ accountId, name: 'ci', createdBy: userId })
  if (made.kind !== 'created') throw new Error(made.kind)
  return { accountId, email, userId, key: made.key, keyId: made.keyId }
}

async function statusOf({ keyId }: { keyId: string }): Promise<unknown> {
  const [row] = await gateway.gateway.database.sql`SELECT status FROM api_keys WHERE id = ${keyId}`
  return row?.status
}
const reportsOf = (keyId: string) => gateway.gateway.database.sql`SELECT 1 FROM leaked_keys WHERE key_id = ${keyId}`
const mailsTo = (email: string) =>
  gateway.gateway.database.sql`SELECT 1 FROM mails WHERE recipient = ${email} AND kind = 'key_leaked'`

describe('a key that was found in public', () => {
  test('a key that was found in public is deactivated by the mailed link, once and by POST only, without a sign-in', async () => {
    const mine = await owned()
    expect((await report(` ${mine.key}\n`)).status).toBe(200)
    const token = await server.find(mine.email, LINK)
    const page = await fetch(`${gateway.url}/dashboard/leaked-key/off`)
    expect([page.status, await statusOf(mine)]).toEqual([200, 'active'])
    expect((await fetch(`${gateway.url}/dashboard/api/leaked-keys/switch-off?token=${token}`)).status).toBe(404)
    const elsewhere = { 'content-type': 'application/json', origin: 'https://evil.test' }
    const body = JSON.stringify({ token })
    const forged = { method: 'POST', headers: elsewhere, body }
    expect((await fetch(`${gateway.url}/dashboard/api/leaked-keys/switch-off`, forged)).status).toBe(403)
    expect(await statusOf(mine)).toBe('active')

    expect((await post('switch-off', { token })).status).toBe(200)
    expect(await statusOf(mine)).toBe('deactivated')
    const used = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${mine.key}` } })
    expect(used.status).toBe(401)
    const [entry] = await gateway.gateway.database
      .sql`SELECT actor_email FROM audit_entries WHERE subject = ${mine.keyId} AND action = 'key.deactivate'`
    expect(entry).toEqual({ actor_email: 'link in a mail' })

    // Its owner knows better, and the old link is dead.
    await gateway.apiKeys.activate(mine.keyId)
    const again = await post('switch-off', { token })
    expect([again.status, (await again.json()).error.code]).toEqual([400, 'invalid_link'])
    expect(await statusOf(mine)).toBe('active')
  })

  test('the mail about a key that was found in public goes to owners, admins, and the key’s member', async () => {
    const mine = await owned()
    const people = await Promise.all([owned(), owned(), owned()])
    const [admin, developer, other] = people
    for (const [person, role] of [
      [admin, 'admin'],
      [developer, 'developer'],
      [other, 'developer'],
    ] as const)
      await gateway.gateway.database
        .sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${mine.accountId}, ${person.userId}, ${role})`
    const { accountId } = mine
    const theirs = await gateway.apiKeys.create({ accountId, name: 'theirs', createdBy: developer.userId })
    if (theirs.kind !== 'created') throw new Error(theirs.kind)
    await report(theirs.key)
    const told = await Promise.all(
      [mine, admin, developer, other].map(async ({ email }) => (await mailsTo(email)).length),
    )
    expect(told).toEqual([1, 1, 1, 0])
  })

  test('a reported key is recognized by a former text that still works, but not by one that has ended', async () => {
    const mine = await owned()
    const { keyId } = mine
    expect(await gateway.apiKeys.rotate(keyId, 3_600_000)).toMatchObject({ kind: 'rotated' })
    await gateway.gateway.database
      .sql`UPDATE key_secrets SET ends_at = now() - interval '1 second' WHERE key_id = ${keyId}`
    await report(mine.key)
    expect(await reportsOf(keyId)).toHaveLength(0)
    await gateway.gateway.database
      .sql`UPDATE key_secrets SET ends_at = now() + interval '1 hour' WHERE key_id = ${keyId}`
    await report(mine.key)
    expect(await reportsOf(keyId)).toHaveLength(1)
  })

  test('a management key that was found in public is revoked by the mailed link', async () => {
    const { accountId, userId, email } = await owned()
    const { managementKeys } = gateway.gateway.deps.dashboard
    const by = { actor: { userId, email } }
    const made = await managementKeys.create(
      { accountId, name: 'tf', scopes: [], expiresAtMs: null, createdBy: userId },
      by,
    )
    if (made.kind !== 'created') throw new Error(made.kind)
    await report(made.key)
    expect((await post('switch-off', { token: await server.find(email, LINK) })).status).toBe(200)
    expect(await managementKeys.identify(made.key)).toBeUndefined()
  })

  test('the link to deactivate a reported key works for seven days', async () => {
    const mine = await owned()
    await report(mine.key)
    const token = await server.find(mine.email, LINK)
    await gateway.gateway.database.sql`UPDATE leaked_keys SET expires_at = now() WHERE key_id = ${mine.keyId}`
    expect((await post('switch-off', { token })).status).toBe(400)
    expect(await statusOf(mine)).toBe('active')
  })
})

describe('reporting a key', () => {
  test('a report of a found key has the same answer whether or not the key exists', async () => {
    const [mine, off] = [await owned(), await owned()]
    await gateway.apiKeys.deactivate(off.keyId)
    const texts = [
      mine.key,
      off.key,
      generateKey('svc'),
      generateProgramKey('svc', 'mgmt').key,
      'no key at all',
      `${mine.key}x`,
    ]
    const answers = await Promise.all(
      texts.map(async (text) => {
        const answer = await expectAtLeast(300, () => report(text))
        const names = [...answer.headers.keys()].sort()
        return { status: answer.status, names, body: await answer.text() }
      }),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({ status: 200, body: '{"done":true}' })
    expect([(await mailsTo(mine.email)).length, (await mailsTo(off.email)).length]).toEqual([1, 0])
  })

  test('reports of found keys send one mail a day per key, and are limited per address', async () => {
    const mine = await owned()
    const from = newAddress()
    const first = await Promise.all(Array.from({ length: 10 }, () => report(mine.key, from)))
    expect(first.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await mailsTo(mine.email)).toHaveLength(1)
    const refused = await report(generateKey('svc'), from)
    expect([refused.status, (await refused.json()).error.code]).toEqual([429, 'too_many_attempts'])
    expect((await report(mine.key)).status).toBe(200)
    expect(await mailsTo(mine.email)).toHaveLength(1)
  })

  test('the text of a reported key is in no table and no log line', async () => {
    const mine = await owned()
    await report(mine.key)
    await until(() => server.mails.some(({ to }) => to === mine.email), 'the mail')
    const { sql } = gateway.gateway.database
    // Those that the gateway may read: partitions are read through their table.
    const tables = await sql<{ name: string }[]>`SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`
    expect(tables.length).toBeGreaterThan(20)
    for (const { name } of tables) {
      const rows = await sql`SELECT 1 FROM ${sql(name)} t WHERE t::text LIKE ${`%${mine.key.slice(4)}%`}`
      expect([name, rows.length]).toEqual([name, 0])
    }
    expect(server.mails.find(({ to }) => to === mine.email)?.raw).not.toContain(mine.key)
    expect(gateway.logLines.filter((line) => line.includes(mine.key.slice(4)))).toEqual([])
  })
})
