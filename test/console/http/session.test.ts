/** Signing up, in and out over HTTP: successes, refusals, and that an ended session stays ended. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { cookieOf, personWith, signUpPerson } from '@test/support/person'
import { errorOf, loggedToken, post, SESSION, signInAgain } from './support'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
afterAll(() => gateway.stop())

describe('signing up', () => {
  test('S29: sign-up makes a person, an empty account and a session', async () => {
    const person = await signUpPerson(gateway, { name: 'Ada' })
    const other = await signUpPerson(gateway)
    expect(person.viewer).toMatchObject({ name: 'Ada', role: 'member', email: person.email })
    expect(person.viewer.accountId).not.toBe(other.viewer.accountId)
    expect(await gateway.balance(person.viewer.accountId)).toMatchObject({ available: 0 })
  })

  test('S16: the session cookie is hidden from scripts and other sites', async () => {
    const response = await post(gateway, '/sign-up', {
      email: 'cookie@example.test',
      password: 'a long enough one',
      name: 'C',
    })
    const [cookie, ...others] = response.headers.getSetCookie()
    expect(others).toEqual([
      expect.stringMatching(/^gateway\.device=\w{32}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    expect(cookie).toMatch(/^gateway\.session_token=[^;]{40,}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
  })

  test('sign-up refuses an address in use, also in another letter case', async () => {
    const { email } = await signUpPerson(gateway)
    const again = await post(gateway, '/sign-up', {
      email: email.toUpperCase(),
      password: 'a long enough one',
      name: 'Again',
    })
    expect(await errorOf(again)).toEqual({ status: 409, code: 'email_taken', param: 'email' })
  })

  test('of two concurrent sign-ups with one address one succeeds', async () => {
    const body = { email: 'race@example.test', password: 'a long enough one', name: 'Race' }
    const responses = await Promise.all([1, 2, 3, 4].map(() => post(gateway, '/sign-up', body)))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  })

  test.each([
    [{ password: 'short12' }, 'password'],
    [{ password: 'x'.repeat(257) }, 'password'],
    [{ password: 'Password123' }, 'password'],
    [{ password: 'rules@example.test' }, 'password'],
    [{ email: 'nobody' }, 'email'],
    [{ email: `${'x'.repeat(300)}@example.test` }, 'email'],
    [{ name: '' }, 'name'],
    [{ name: 'a\u0000b' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
  ])('sign-up refuses %j with its field', async (change, param) => {
    const body = { email: 'rules@example.test', password: 'a long enough one', name: 'Rules', ...change }
    expect(await errorOf(await post(gateway, '/sign-up', body))).toMatchObject({ status: 400, param })
  })

  test('sign-up takes every character of a long password literally', async () => {
    const password = `${'long '.repeat(50)}tail`
    const person = await signUpPerson(gateway, { password })
    await signInAgain(gateway, person)
    const cut = await post(gateway, '/sign-in', { email: person.email, password: password.slice(0, -1) })
    expect(cut.status).toBe(401)
  })

  test('an account that an operator created is given only to a person with a confirmed address', async () => {
    const email = 'reserved@example.test'
    const { sql } = gateway.gateway.database
    await sql`INSERT INTO accounts (id, name, email, balance_nano) VALUES ('acct_reserved', 'Reserved', ${email}, 5)`
    const credentials = { email, password: 'a long enough one' }
    const signedUp = await post(gateway, '/sign-up', { ...credentials, name: 'Claims' })
    expect(await signedUp.json()).toEqual({ status: 'verification_sent' })
    expect(signedUp.headers.getSetCookie()).toEqual([])
    expect(await errorOf(await post(gateway, '/sign-in', credentials))).toMatchObject({
      status: 403,
      code: 'email_not_verified',
    })
    const token = await loggedToken(gateway, email, 'verify-email')
    const wrong = await post(gateway, '/email/verify', { token, password: 'not what was chosen' })
    expect(await errorOf(wrong)).toMatchObject({ status: 400, code: 'wrong_password' })
    const verified = await post(gateway, '/email/verify', { token, password: credentials.password })
    expect(await verified.json()).toEqual({ status: 'signed_in' })
    const person = await personWith(gateway, cookieOf(verified), credentials)
    expect(person.viewer.accountId).toBe('acct_reserved')
    const again = await post(gateway, '/email/verify', { token, password: credentials.password })
    expect(await errorOf(again)).toMatchObject({ status: 400, code: 'invalid_link' })
  })
})

describe('a session', () => {
  test('each sign-in starts a new session and ends the browser’s former one', async () => {
    const first = await signUpPerson(gateway)
    const response = await post(
      gateway,
      '/sign-in',
      { email: first.email, password: first.password },
      { cookie: first.cookie },
    )
    const second = await personWith(gateway, cookieOf(response), first)
    expect(second.viewer.sessionId).not.toBe(first.viewer.sessionId)
    expect((await first.json('GET', `${SESSION}/me`)).status).toBe(401)
  })

  test('S16: signing out ends the session on the server', async () => {
    const person = await signUpPerson(gateway)
    const out = await person.json('POST', `${SESSION}/sign-out`, {})
    expect(out).toMatchObject({ status: 200, body: { done: true } })
    expect(out.headers.getSetCookie().join()).toContain('gateway.session_token=; Max-Age=0')
    expect(await person.json('GET', `${SESSION}/me`)).toMatchObject({
      status: 401,
      body: { error: { code: 'not_signed_in' } },
    })
  })

  test('a session ends when idle, and at its maximum age', async () => {
    const { sql } = gateway.gateway.database
    const idle = await signUpPerson(gateway)
    await sql`UPDATE sessions SET updated_at = now() - interval '73 hours' WHERE id = ${idle.viewer.sessionId}`
    expect((await idle.json('GET', `${SESSION}/me`)).status).toBe(401)
    expect([...(await sql`SELECT 1 FROM sessions WHERE id = ${idle.viewer.sessionId}`)]).toEqual([])
    const old = await signUpPerson(gateway)
    await sql`UPDATE sessions SET expires_at = now() - interval '1 second' WHERE id = ${old.viewer.sessionId}`
    expect((await old.json('GET', `${SESSION}/me`)).status).toBe(401)
  })

  test('a session with a changed cookie is invalid', async () => {
    const { cookie, email, password } = await signUpPerson(gateway)
    const [name, value = ''] = cookie.split('=')
    const [token = '', signature] = decodeURIComponent(value).split('.')
    const forged = [
      `${name}=${token}`,
      `${name}=${encodeURIComponent(`${token.slice(0, -1)}${token.endsWith('X') ? 'Y' : 'X'}.${signature}`)}`,
      `${name}=`,
    ]
    for (const text of forged) {
      await expect(personWith(gateway, text, { email, password })).rejects.toThrow('the session is not known')
    }
  })

  test('a session is listed with its browser, and only its owner can end it', async () => {
    const person = await signUpPerson(gateway)
    const elsewhere = await signInAgain(gateway, person)
    const stranger = await signUpPerson(gateway)
    const { body } = await person.json('GET', `${SESSION}/sessions`)
    const { items } = body as { items: { sessionId: string; isCurrent: boolean; address: string; userAgent: string }[] }
    expect(items.map((item) => [item.sessionId, item.isCurrent]).sort()).toEqual(
      [
        [person.viewer.sessionId, true],
        [elsewhere.viewer.sessionId, false],
      ].sort(),
    )
    expect(items[0]).toMatchObject({ address: '127.0.0.1', userAgent: expect.stringContaining('Bun') })
    const path = `${SESSION}/sessions/${elsewhere.viewer.sessionId}`
    expect((await stranger.json('DELETE', path)).status).toBe(404)
    expect((await person.json('DELETE', path)).status).toBe(200)
    expect((await elsewhere.json('GET', `${SESSION}/me`)).status).toBe(401)
    expect((await person.json('DELETE', path)).status).toBe(404)
  })

  test('ending all other sessions keeps the current one, and those of other people', async () => {
    const [person, stranger] = [await signUpPerson(gateway), await signUpPerson(gateway)]
    const others = [await signInAgain(gateway, person), await signInAgain(gateway, person)]
    expect((await person.json('DELETE', `${SESSION}/sessions`)).body).toEqual({ ended: 2 })
    for (const other of others) expect((await other.json('GET', `${SESSION}/me`)).status).toBe(401)
    for (const kept of [person, stranger]) expect((await kept.json('GET', `${SESSION}/me`)).status).toBe(200)
  })
})

describe('passwords', () => {
  test('a password change needs the old one, and ends all sessions except one new session', async () => {
    const person = await signUpPerson(gateway)
    const elsewhere = await signInAgain(gateway, person)
    const newPassword = 'another horse on a battery'
    const wrong = await person.json('POST', `${SESSION}/password/change`, { currentPassword: 'no', newPassword })
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'wrong_password', param: 'currentPassword' } } })
    const response = await person.fetch(`${SESSION}/password/change`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ currentPassword: person.password, newPassword }),
    })
    expect(response.status).toBe(200)
    const renewed = await personWith(gateway, cookieOf(response), person)
    for (const ended of [person, elsewhere]) expect((await ended.json('GET', `${SESSION}/me`)).status).toBe(401)
    expect((await post(gateway, '/sign-in', { email: person.email, password: person.password })).status).toBe(401)
    await signInAgain(gateway, { email: renewed.email, password: newPassword })
  })

  test('a reset link works once, and ends every session', async () => {
    const person = await signUpPerson(gateway, { name: 'Ada Lovelace' })
    expect((await post(gateway, '/password/forgot', { email: person.email.toUpperCase() })).status).toBe(200)
    const token = await loggedToken(gateway, person.email, 'reset-password')
    const { sql } = gateway.gateway.database
    const kept = await sql`SELECT identifier FROM verifications WHERE value = ${person.viewer.userId}`
    expect(kept.map((row) => row.identifier).join()).not.toContain(token)
    const weak = await post(gateway, '/password/reset', { token, newPassword: 'ada lovelace' })
    expect(await errorOf(weak)).toEqual({ status: 400, code: 'weak_password', param: 'newPassword' })
    const newPassword = 'a reset horse on a battery'
    expect((await post(gateway, '/password/reset', { token, newPassword })).status).toBe(200)
    expect((await person.json('GET', `${SESSION}/me`)).status).toBe(401)
    await signInAgain(gateway, { email: person.email, password: newPassword })
    const again = await post(gateway, '/password/reset', { token, newPassword: 'yet another horse' })
    expect(await errorOf(again)).toMatchObject({ status: 400, code: 'invalid_link' })
  })
})

describe('a person’s own profile', () => {
  test('a person can change the name in their profile, and no other field', async () => {
    const person = await signUpPerson(gateway)
    const body = {
      name: 'Renamed',
      role: 'admin',
      accountId: 'acct_other',
      email: 'x@example.test',
      emailVerified: true,
    }
    await person.json('PATCH', `${SESSION}/me`, body)
    await person.json('PATCH', `${SESSION}/me`, { name: '  Grace  ' })
    expect((await person.json('GET', `${SESSION}/me`)).body).toMatchObject({
      ...person.viewer,
      name: 'Grace',
      isEmailVerified: false,
      isTotpEnabled: false,
    })
  })

  test('sign-up cannot set a role, an account or a confirmed address', async () => {
    const email = 'mass@example.test'
    const person = { email, password: 'a long enough one', name: 'Mass' }
    for (const field of ['role', 'accountId', 'account_id', 'emailVerified', 'twoFactorEnabled', 'id']) {
      const answer = await post(gateway, '/sign-up', { ...person, [field]: 'admin' })
      expect(await errorOf(answer)).toMatchObject({ status: 400, param: field })
    }
    expect(await gateway.gateway.database.sql`SELECT FROM users WHERE email = ${email}`).toHaveLength(0)
  })
})
