/** Changes that pages send with a request key happen once, however often they are sent: each route that makes or moves something. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'

let gateway: TestGateway
let owner: Person
let administrator: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
  administrator = await signUpPerson(gateway, { role: 'admin' })
})
beforeEach(async () => {
  owner = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

/** As a page sends it. */
async function press(person: Person, path: string, body: unknown, key: string) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const response = await person.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, replayed: response.headers.get('idempotent-replayed'), text: await response.text() }
}

const OWN = '/dashboard/api/a/:accountId'
/** A route that makes something, its body, and the list in which the result is seen. */
const MADE = [
  ['a key', `${OWN}/keys`, { name: 'pressed' }, `${OWN}/keys`],
  ['an invitation', `${OWN}/invitations`, { email: 'ada@example.test', role: 'viewer' }, `${OWN}/invitations`],
] as const

async function countOf(person: Person, list: string): Promise<number> {
  const { body } = await person.json('GET', list)
  return (body as { items: unknown[] }).items.length
}

describe.each(MADE)('%s', (_, path, body, list) => {
  beforeEach(async () => {
    await owner.json('POST', `${OWN}/organisation`, { name: 'Engines Ltd', country: 'GB' })
  })

  test('a change that is sent again after a lost answer is made once, and gets the first answer', async () => {
    const before = await countOf(owner, list)
    const first = await press(owner, path, body, 'press-1')
    expect(first).toMatchObject({ status: 200, replayed: null })
    const again = await press(owner, path, body, 'press-1')
    expect(again).toEqual({ status: 200, replayed: 'true', text: first.text })
    expect(await countOf(owner, list)).toBe(before + 1)
  })

  test('a change that is sent a hundred times at once is made once', async () => {
    const before = await countOf(owner, list)
    const answers = await Promise.all(Array.from({ length: 100 }, () => press(owner, path, body, 'press-2')))
    const texts = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text))
    expect(texts.size).toBe(1)
    expect(await countOf(owner, list)).toBe(before + 1)
  })
})

test('a refused change may be repeated with its request key; another change with that key is refused', async () => {
  const refused = await press(owner, `${OWN}/keys`, { name: '' }, 'press-3')
  expect(refused.status).toBe(400)
  expect(await press(owner, `${OWN}/keys`, { name: 'mended' }, 'press-3')).toMatchObject({ status: 200 })
  const other = await press(owner, `${OWN}/keys`, { name: 'other' }, 'press-3')
  expect([other.status, JSON.parse(other.text).error.code]).toEqual([409, 'idempotency_key_reused'])
})

test('a request key only works for the person who used it first', async () => {
  const first = await press(owner, `${OWN}/keys`, { name: 'mine' }, 'press-4')
  const other = await signUpPerson(gateway)
  const theirs = await press(other, `${OWN}/keys`, { name: 'mine' }, 'press-4')
  expect(theirs).toMatchObject({ status: 200, replayed: null })
  expect(theirs.text).not.toBe(first.text)
})

test('request keys work for administrators; without a session nothing is stored for them', async () => {
  const path = `/dashboard/api/admin/accounts/${owner.viewer.accountId}/suspend`
  const first = await press(administrator, path, { reason: 'for the test' }, 'press-5')
  const again = await press(administrator, path, { reason: 'for the test' }, 'press-5')
  expect([first.status, again.status, again.text]).toEqual([first.status, first.status, first.text])
  const stranger = await fetch(`${gateway.url}/dashboard/api/a/acct_none/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url, 'idempotency-key': 'press-6' },
    body: '{}',
  })
  expect(stranger.status).toBe(401)
})
