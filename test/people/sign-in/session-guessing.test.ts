/** Guessing passwords is slowed down by address and by account, without locking the owner out. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf, loggedToken, post } from '@test/console/http/support'
import { expectAtLeast } from '@test/support/at-least'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'

/** As many guesses at one account as one address, and as strangers together, get. */
const PER_ADDRESS = 10
const PER_ACCOUNT = 100

let gateway: TestGateway
let proxied: TestGateway

beforeAll(async () => {
  ;[gateway, proxied] = await Promise.all([
    startGateway({ respond: () => new Response('{}') }),
    startGateway({ respond: () => new Response('{}'), environment: { TRUSTED_PROXY_HOPS: '1' } }),
  ])
})
afterAll(() => Promise.all([gateway.stop(), proxied.stop()]))

function guess(target: TestGateway, email: string, password: string, forwardedFor?: string): Promise<Response> {
  return post(target, '/sign-in', { email, password }, forwardedFor ? { 'x-forwarded-for': forwardedFor } : {})
}

/** Statuses of `count` wrong guesses, eight at a time. */
async function guesses(count: number, one: (index: number) => Promise<Response>): Promise<number[]> {
  const statuses: number[] = []
  for (let start = 0; start < count; start += 8) {
    const batch = Array.from({ length: Math.min(8, count - start) }, (_, offset) => one(start + offset))
    statuses.push(...(await Promise.all(batch)).map(({ status }) => status))
  }
  return statuses
}

test('an untrusted forwarded address is logged once', async () => {
  await guesses(3, () => guess(gateway, 'nobody@example.test', 'wrong guess', '10.9.9.9'))
  const told = (target: TestGateway) => target.logLines.filter((line) => line.includes('forwarded_address_not_trusted'))
  expect([told(gateway).length, told(proxied).length]).toEqual([1, 0])
})

describe('guesses from one address at one person', () => {
  test('S18: after ten guesses from one address at one person, even the right password is refused, with the waiting time', async () => {
    const { email, password } = await signUpPerson(gateway)
    const statuses = await guesses(PER_ADDRESS, () => guess(gateway, email, 'wrong guess'))
    expect(statuses).toEqual(Array(PER_ADDRESS).fill(401))
    const next = await guess(gateway, email, password)
    expect(Number(next.headers.get('retry-after'))).toBeWithin(1, 901)
    expect(await errorOf(next)).toMatchObject({ status: 429, code: 'too_many_attempts' })
  })

  test('S18: a made-up X-Forwarded-For does not reset the count', async () => {
    const { email } = await signUpPerson(gateway)
    const statuses = await guesses(14, (index) => guess(gateway, email, 'wrong guess', `203.0.113.${index}`))
    expect(statuses.filter((status) => status === 429)).toHaveLength(4)
  })

  test('behind a trusted proxy the address that the proxy added counts, not the entries before it', async () => {
    const { email } = await signUpPerson(proxied)
    const statuses = await guesses(14, (index) => guess(proxied, email, 'wrong', `203.0.113.${index}, 198.51.100.7`))
    expect(statuses.filter((status) => status === 429)).toHaveLength(4)
  })

  test('guesses from a whole IPv6 network count as one address', async () => {
    const { email } = await signUpPerson(proxied)
    const statuses = await guesses(14, (index) => guess(proxied, email, 'wrong', `2001:db8:1:2::${index.toString(16)}`))
    expect(statuses.filter((status) => status === 429)).toHaveLength(4)
    expect((await guess(proxied, email, 'wrong', '2001:db8:1:3::1')).status).toBe(401)
  })

  test('a right password resets the count of guesses', async () => {
    const { email, password } = await signUpPerson(gateway)
    for (let round = 0; round < 2; round++) {
      await guesses(PER_ADDRESS - 1, () => guess(gateway, email, 'wrong guess'))
      expect((await guess(gateway, email, password)).status).toBe(200)
    }
  })
})

describe('guesses from all addresses at one person', () => {
  test('after guesses from many addresses strangers are refused; the owner can sign in from a known place or reset the password', async () => {
    const owner = await signUpPerson(proxied)
    const { email, password } = owner
    expect((await guess(proxied, email, password, '198.51.100.1')).status).toBe(200)
    // One of a hundred was the owner's own, from an address that was new then.
    const statuses = await guesses(PER_ACCOUNT - 1, (index) => guess(proxied, email, 'wrong', `10.1.0.${index}`))
    expect(new Set(statuses)).toEqual(new Set([401]))
    expect((await guess(proxied, email, password, '10.2.0.1')).status).toBe(429)
    expect((await guess(proxied, email, password, '198.51.100.1')).status).toBe(200)
    const from = { 'x-forwarded-for': '198.51.100.9' }
    await post(proxied, '/password/forgot', { email }, from)
    const token = await loggedToken(proxied, email, 'reset-password')
    const newPassword = 'chosen after the attack'
    expect((await post(proxied, '/password/reset', { token, newPassword }, from)).status).toBe(200)
    expect((await guess(proxied, email, newPassword, '198.51.100.9')).status).toBe(200)
  })
})

describe('guesses from one address at many people', () => {
  test('guesses from one address at any people are refused after a hundred', async () => {
    const statuses = await guesses(112, (index) => guess(proxied, `nobody${index}@example.test`, 'wrong', '192.0.2.66'))
    expect(statuses.filter((status) => status === 401)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(12)
  })
})

describe('equal answers', () => {
  test('S19: sign-in with an unknown address has the same status, body and work as with a known one', async () => {
    const { email } = await signUpPerson(proxied)
    const answers = async (address: string, from: string) => {
      const response = await expectAtLeast(200, () => guess(proxied, address, 'wrong guess', from))
      return { status: response.status, body: await response.text() }
    }
    const known = await answers(email, '192.0.2.70')
    expect(known).toEqual(await answers('nobody-at-all@example.test', '192.0.2.70'))
    expect(known).toMatchObject({ status: 401 })
  })

  test('S19: a reset request for an unknown address has the same answer as for a known one', async () => {
    const { email } = await signUpPerson(proxied)
    const ask = async (address: string) => {
      const from = { 'x-forwarded-for': '192.0.2.71' }
      const response = await expectAtLeast(300, () => post(proxied, '/password/forgot', { email: address }, from))
      return { status: response.status, body: await response.text() }
    }
    const known = await ask(email)
    expect(known).toEqual({ status: 200, body: '{"done":true}' })
    expect(await ask('nobody-at-all@example.test')).toEqual(known)
  })
})

describe('mails', () => {
  test('the number of mails that others can send to a person is limited', async () => {
    const { email } = await signUpPerson(proxied)
    const ask = (index: number) =>
      post(proxied, '/password/forgot', { email }, { 'x-forwarded-for': `10.3.0.${index}` })
    expect((await guesses(12, ask)).sort()).toEqual([...Array(10).fill(200), 429, 429])
  })
})

describe('passwords requested again', () => {
  test('password guesses on a stolen session are limited', async () => {
    const person = await signUpPerson(gateway)
    const change = () =>
      person.fetch('/dashboard/api/session/password/change', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ currentPassword: 'a guess', newPassword: 'a horse of the thief' }),
      })
    const statuses = await guesses(12, change)
    expect(statuses.filter((status) => status === 400)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(2)
  })
})
