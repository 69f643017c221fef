/** Further addresses for alerts: they get a request for consent, and nothing else before consent is given. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { signInAgain } from '@test/console/http/support'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import type { JsonAnswer, Person } from '@test/support/person'
import { until } from '@test/support/until'
import { lookAt } from '@/accounts/alerts/look'
import { createUser } from '@/accounts/users'

const PATH = '/dashboard/api/a/:accountId/alerts'
const LINK = /confirm-alerts#token=(\w{32})/
const PASSWORD = 'a horse on a battery'
let gateway: TestGateway
let server: MailServer

beforeAll(async () => {
  server = await startMailServer()
  const environment = { SMTP_URL: server.url, MAIL_FROM: 'svc@example.test' }
  gateway = await startGateway({ respond: () => new Response('{}'), environment })
})
afterAll(async () => {
  await gateway.stop()
  await server.stop()
})

/** Somebody with a confirmed address, signed in. */
async function newPerson(name: string): Promise<Person> {
  const email = `${crypto.randomUUID()}@example.test`
  await createUser(gateway.gateway.database, { email, password: PASSWORD, name })
  return await signInAgain(gateway, { email, password: PASSWORD })
}

const newAddress = () => `${crypto.randomUUID()}@team.example.test`
const addressesOf = ({ body }: JsonAnswer) => (body as { account: { addresses: unknown } }).account.addresses

/** Crosses the first threshold of the credit, and looks. */
async function crossThreshold({ viewer: { accountId } }: Person): Promise<void> {
  const { database } = gateway.gateway
  await database.sql`UPDATE accounts SET balance_nano = 8000000000, spent_nano = spent_nano + 12000000000 WHERE id = ${accountId}`
  await database.sql`DELETE FROM alert_states WHERE account_id = ${accountId}`
  await lookAt(database, accountId, Date.now())
}

const mailsTo = async (email: string) =>
  (await gateway.gateway.database.sql<{ kind: string }[]>`SELECT kind FROM mails WHERE recipient = ${email}`).map(
    ({ kind }) => kind,
  )
function answer(path: string, token: string): Promise<Response> {
  return fetch(`${gateway.url}/dashboard/api/alert-addresses/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url },
    body: JSON.stringify({ token }),
  })
}

test('a further address is asked once for consent, and gets alerts only after it; the consent is audited', async () => {
  const owner = await newPerson('Ada Lovelace')
  const email = newAddress()
  const added = await owner.json('POST', `${PATH}/addresses`, { email: email.toUpperCase() })
  expect(addressesOf(added)).toEqual([{ email, isConfirmed: false }])
  const token = await server.find(email, LINK)
  await crossThreshold(owner)
  expect(await mailsTo(email)).toEqual(['confirm_alerts'])
  expect(await mailsTo(owner.email)).toContain('balance_low')

  const question = { email, accountName: expect.any(String), askedBy: 'Ada Lovelace' }
  for (const path of ['show', 'show', 'confirm']) {
    const response = await answer(path, token)
    expect(await response.json()).toEqual(question)
  }
  expect((await answer('confirm', token)).status).toBe(400)
  expect(addressesOf(await owner.json('GET', PATH))).toEqual([{ email, isConfirmed: true }])
  await crossThreshold(owner)
  expect((await mailsTo(email)).sort()).toEqual(['balance_low', 'confirm_alerts'])
  const audited = await gateway.gateway.database.sql<{ action: string }[]>`
    SELECT action FROM audit_entries WHERE account_id = ${owner.viewer.accountId} AND action LIKE 'alert_address.%' ORDER BY seq`
  expect(audited.map(({ action }) => action)).toEqual(['alert_address.add', 'alert_address.confirm'])
})

test('a new consent link voids the former one; a removed address has no valid link and no waiting alerts', async () => {
  const owner = await newPerson('Ada')
  const email = newAddress()
  await owner.json('POST', `${PATH}/addresses`, { email })
  const first = await server.find(email, LINK)
  await owner.json('POST', `${PATH}/addresses/ask-again`, { email })
  const second = await until(async () => {
    const token = await server.find(email, LINK)
    return token === first ? undefined : token
  }, 'the second link')
  expect((await answer('confirm', first)).status).toBe(400)
  expect((await answer('confirm', second)).status).toBe(200)
  const { accountId } = owner.viewer
  const { sql } = gateway.gateway.database
  await sql`INSERT INTO mails (id, event_id, recipient, kind, facts, owner, rank, due_at, next_try_at, expires_at)
    VALUES (${`mail_${email}`}, 'held', ${email}, 'balance_low', '{}', ${accountId}, 1060, now() + interval '1 hour', now() + interval '1 hour', now() + interval '1 day')`
  const removed = await owner.json('POST', `${PATH}/addresses/remove`, { email })
  expect(addressesOf(removed)).toEqual([])
  expect(await sql`SELECT FROM mails WHERE recipient = ${email} AND state = 'waiting'`).toHaveLength(0)
  expect((await owner.json('POST', `${PATH}/addresses/ask-again`, { email })).status).toBe(404)
})

test('an address gets three requests for consent an hour from all accounts; refused ones do not count', async () => {
  const email = newAddress()
  for (let turn = 0; turn < 3; turn++) {
    const owner = await newPerson(`Account ${turn}`)
    expect((await owner.json('POST', `${PATH}/addresses`, { email })).status).toBe(200)
    // It is in the list already: refused, and not counted against the stranger.
    expect((await owner.json('POST', `${PATH}/addresses`, { email })).status).toBe(turn < 2 ? 409 : 429)
  }
  const late = await newPerson('One more')
  expect((await late.json('POST', `${PATH}/addresses`, { email })).status).toBe(429)
  await until(async () => (await mailsTo(email)).length === 3, 'three mails')
})

test('an account may ask ten addresses an hour for consent, and have five addresses', async () => {
  const owner = await newPerson('Ada')
  const [first = '', ...others] = Array.from({ length: 5 }, newAddress)
  for (const email of [first, ...others]) await owner.json('POST', `${PATH}/addresses`, { email })
  const sixth = await owner.json('POST', `${PATH}/addresses`, { email: newAddress() })
  expect([sixth.status, sixth.body]).toMatchObject([409, { error: { code: 'too_many', param: 'email' } }])
  let last = first
  for (let turn = 0; turn < 5; turn++) {
    await owner.json('POST', `${PATH}/addresses/remove`, { email: last })
    last = newAddress()
    expect((await owner.json('POST', `${PATH}/addresses`, { email: last })).status).toBe(200)
  }
  await owner.json('POST', `${PATH}/addresses/remove`, { email: last })
  expect((await owner.json('POST', `${PATH}/addresses`, { email: newAddress() })).status).toBe(429)
})

test.each(['addresses', 'addresses/ask-again'])(
  '%s: a hundred requests with one request key send one mail',
  async (route) => {
    const owner = await newPerson('Ada')
    const email = newAddress()
    if (route !== 'addresses') await owner.json('POST', `${PATH}/addresses`, { email })
    const before = (await mailsTo(email)).length
    const press = () =>
      owner.fetch(`${PATH}/${route}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'press' },
        body: JSON.stringify({ email }),
      })
    const statuses = (await Promise.all(Array.from({ length: 100 }, press))).map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(new Set(statuses).difference(new Set([200, 409]))).toEqual(new Set())
    expect(await mailsTo(email)).toHaveLength(before + 1)
  },
)
