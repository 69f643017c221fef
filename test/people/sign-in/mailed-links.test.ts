/** Mailed links with invalid tokens: cut, mistyped, very long or empty ones are answered like expired links. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SESSION } from '@test/console/http/support'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'

/** Of the form of ours, and nobody's. */
const DEAD = 'a'.repeat(32)
const ODD = [
  '',
  'x',
  'seven77',
  'x'.repeat(101),
  'x'.repeat(9_000),
  '../../x',
  'ü😀',
  '\ud800',
  '<b>',
  '%zz',
  "' OR 1=1",
]

let gateway: TestGateway
let person: Person
let sent = 0

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}'), environment: { TRUSTED_PROXY_HOPS: '1' } })
  person = await signUpPerson(gateway)
  await gateway.gateway.database.sql`UPDATE users SET email_verified = true WHERE id = ${person.viewer.userId}`
})
afterAll(() => gateway.stop())

/** From an address of its own: guesses of tokens are counted by where they come from. */
async function answerTo(path: string, body: object): Promise<{ status: number; error: unknown }> {
  sent += 1
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': `10.1.${sent}.1` }
  const response = await person.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, error: ((await response.json()) as { error?: unknown }).error }
}

const BODIES: [path: string, rest: object, status: number][] = [
  [`${SESSION}/password/reset`, { newPassword: 'a horse on a battery' }, 400],
  [`${SESSION}/email/verify`, { password: 'a horse on a battery' }, 400],
  [`${SESSION}/address/confirm`, { password: 'a horse on a battery' }, 400],
  [`${SESSION}/address/undo`, {}, 400],
  ['/dashboard/api/invitations/show', {}, 410],
  ['/dashboard/api/invitations/accept', {}, 410],
  ['/dashboard/api/invitations/decline', {}, 410],
]

test.each(BODIES)('%s answers the same for every invalid token', async (path, rest, status) => {
  const dead = await answerTo(path, { ...rest, token: DEAD })
  expect(dead.status).toBe(status)
  for (const token of ODD) expect([token, await answerTo(path, { ...rest, token })]).toEqual([token, dead])
  const withNul = await answerTo(path, { ...rest, token: 'a\0b' })
  expect(withNul).toMatchObject({ status: 400, error: { param: 'token' } })
})

test.each(['GET', 'POST'])('%s for unsubscribing shows the same page for every invalid token', async (method) => {
  const show = async (query: string) => {
    const response = await fetch(`${gateway.url}/mail/unsubscribe${query}`, { method })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  const dead = await show(`?token=${DEAD}`)
  expect(dead).toMatchObject({ status: 404, type: 'text/html; charset=utf-8' })
  expect(dead.text).toContain('This link is not valid')
  const queries = ODD.map((token) => `?token=${encodeURIComponent(token.toWellFormed())}`)
  for (const query of [...queries, '', '?', '?token', '?token=%zz', '?token=%00', '?token=a&token=b', '?nekot=a'])
    expect([query, await show(query)]).toEqual([query, dead])
})
