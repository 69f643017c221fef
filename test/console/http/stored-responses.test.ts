/** The settings of stored responses: what the account has stored, what it chose, and when other gateways follow. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { createCredits } from '@/accounts/credits'
import { nano } from '@/lib/money'
import { createAllowance } from '@/stored-responses/allowance'

const PATH = '/dashboard/api/a/:accountId/stored-responses'
const MAX_HOURS = 720
let gateway: TestGateway
let person: Person
let stranger: Person
let key: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  person = await signUpPerson(gateway)
  stranger = await signUpPerson(gateway)
  const { accountId } = person.viewer
  const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
  await credits.addCredit({ accountId, amount: nano(10e9), reference: 'test' })
  const created = await gateway.apiKeys.create({ name: 'test', accountId })
  key = created.kind === 'created' ? created.key : ''
})
afterAll(() => gateway.stop())

/** Whether the answer says that it is stored. */
async function isStored(): Promise<boolean> {
  const response = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', input: 'Hello' }),
  })
  return ((await response.json()) as { store: boolean }).store
}

const standing = async (by = person) => (await by.json('GET', PATH)).body as { kept: number; bytes: number }
const choose = (hours: unknown, by = person) => by.json('PUT', PATH, { hours })

test('the page shows only the account’s own stored answers', async () => {
  expect((await person.json('GET', PATH)).body).toEqual({ hours: MAX_HOURS, maxHours: MAX_HOURS, kept: 0, bytes: 0 })
  expect(await isStored()).toBe(true)
  await until(async () => (await standing()).kept === 1, 'it is written')
  expect((await standing()).bytes).toBeGreaterThan(100)
  expect(await standing(stranger)).toMatchObject({ kept: 0, bytes: 0 })
  expect((await fetch(gateway.url + PATH)).status).toBe(401)
})

test('a shorter storage time is stored and audited; the maximum cannot be exceeded', async () => {
  expect((await choose(24)).body).toMatchObject({ hours: 24, maxHours: MAX_HOURS, kept: 1 })
  expect((await choose(24)).status).toBe(200)
  expect((await choose(MAX_HOURS)).body).toMatchObject({ hours: MAX_HOURS })
  const { accountId, email } = person.viewer
  const rows = await gateway.gateway.database
    .sql`SELECT stored_response_hours AS hours FROM accounts WHERE id = ${accountId}`
  expect([...rows]).toEqual([{ hours: null }])
  const entries = await gateway.gateway.database.sql`
    SELECT details, actor_email AS email FROM audit_entries WHERE action = 'account.stored_hours' ORDER BY seq`
  expect([...entries]).toEqual([
    { email, details: { hours: 24, 'before.hours': null } },
    { email, details: { hours: null, 'before.hours': 24 } },
  ])
})

test.each([-1, 1.5, '24', null, 87_601])('the storage time %p is refused', async (hours) => {
  expect((await choose(hours)).status).toBe(400)
})

test('turning storage off deletes stored answers', async () => {
  const { kept } = await standing()
  expect(await isStored()).toBe(true)
  await until(async () => (await standing()).kept === kept + 1, 'it is written')
  expect((await choose(0)).body).toEqual({ hours: 0, maxHours: MAX_HOURS, kept: 0, bytes: 0 })
  expect(await isStored()).toBe(false)
  const rows = await gateway.gateway.database.sql`SELECT FROM stored_responses`
  expect(rows).toHaveLength(0)
})

test('a gateway follows a choice that another gateway took after fifteen seconds', async () => {
  const { accountId } = person.viewer
  let nowMs = 0
  const allowance = createAllowance(gateway.gateway.database, MAX_HOURS, () => nowMs)
  await choose(24)
  expect(await allowance.hoursOf(accountId)).toBe(24)
  await choose(0)
  nowMs = 14_999
  expect(await allowance.hoursOf(accountId)).toBe(24)
  nowMs = 15_000
  expect(await allowance.hoursOf(accountId)).toBe(0)
})
