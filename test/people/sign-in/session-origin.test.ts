/** Requests caused by other sites, closed sign-up, and refusals in production. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf, post, SESSION, signInAgain } from '@test/console/http/support'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { upsertAdministrator } from '@/accounts/operator-access'
import { createUser } from '@/accounts/users'

let open: TestGateway
let closed: TestGateway

beforeAll(async () => {
  ;[open, closed] = await Promise.all([
    startGateway({ respond: () => new Response('{}') }),
    startGateway({
      respond: () => new Response('{}'),
      environment: {
        NODE_ENV: 'production',
        AUTH_SECRET: 'x'.repeat(32),
        SIGN_UP: 'closed',
        PUBLIC_URL: 'https://gateway.example.test',
        TRUSTED_PROXY_HOPS: '0',
      },
    }),
  ])
})
afterAll(() => Promise.all([open.stop(), closed.stop()]))

describe('another site', () => {
  test.each([['https://evil.example'], ['null'], ['http://127.0.0.1:1'], [undefined]])(
    'a page of the origin %p cannot sign anybody in or out, or change anything',
    async (origin) => {
      const person = await signUpPerson(open)
      const headers = { cookie: person.cookie, 'content-type': 'application/json', ...(origin && { origin }) }
      const attempts: [method: string, path: string, body?: object][] = [
        ['POST', '/sign-in', { email: person.email, password: person.password }],
        ['POST', '/sign-up', { email: 'x@example.test', password: 'a long enough one', name: 'X' }],
        ['POST', '/sign-out', {}],
        ['POST', '/password/forgot', { email: person.email }],
        ['POST', '/password/change', { currentPassword: person.password, newPassword: 'stolen by a page' }],
        ['POST', '/totp/enable', { password: person.password }],
        ['PATCH', '/me', { name: 'Hijacked' }],
        ['DELETE', '/sessions'],
        ['DELETE', `/sessions/${person.viewer.sessionId}`],
      ]
      for (const [method, path, body] of attempts) {
        const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
        const response = await fetch(`${open.url}${SESSION}${path}`, init)
        expect({ path, ...(await errorOf(response)) }).toMatchObject({ path, status: 403, code: 'cross_origin' })
      }
      expect((await person.json('GET', `${SESSION}/me`)).body).toMatchObject(person.viewer)
    },
  )

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'another site cannot send a form: %s is refused even from our own pages',
    async (contentType) => {
      const { email, password } = await signUpPerson(open)
      const response = await fetch(`${open.url}${SESSION}/sign-in`, {
        method: 'POST',
        headers: { 'content-type': contentType, origin: open.url },
        body: JSON.stringify({ email, password }),
      })
      expect(response.status).toBe(415)
    },
  )

  test('S24: other sites get no CORS header, and answers are not cached', async () => {
    const person = await signUpPerson(open)
    const response = await person.fetch(`${SESSION}/me`, { headers: { origin: 'https://evil.example' } })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.headers.get('cache-control')).toBe('no-store')
  })
})

describe('unauthenticated requests', () => {
  test('an unauthenticated body is read up to the size of a form', async () => {
    const response = await post(open, '/sign-in', { email: 'a@example.test', password: 'x'.repeat(20_000) })
    expect(response.status).toBe(413)
  })
})

describe('closed sign-up', () => {
  test('closed sign-up refuses everybody; the operator creates people', async () => {
    const origin = { origin: 'https://gateway.example.test' }
    const options = await fetch(`${closed.url}${SESSION}/options`)
    expect(await options.json()).toMatchObject({ signUp: 'closed', isPasswordResetPossible: false })
    const person = { email: 'new@example.test', password: 'a long enough one' }
    const refused = await post(closed, '/sign-up', { ...person, name: 'New' }, origin)
    expect(await errorOf(refused)).toMatchObject({ status: 403, code: 'sign_up_closed' })
    await createUser(closed.gateway.database, person)
    const response = await post(closed, '/sign-in', person, origin)
    expect(response.status).toBe(200)
    const [cookie] = response.headers.getSetCookie()
    expect(cookie).toMatch(
      /^__Host-gateway\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
  })

  test('only the origin of PUBLIC_URL is accepted, whatever the Host header', async () => {
    const response = await post(closed, '/sign-out', {}, { origin: closed.url })
    expect(await errorOf(response)).toMatchObject({ status: 403, code: 'cross_origin' })
  })
})

describe('production without mail', () => {
  test('production without mail refuses a reset with the reason, and logs no link', async () => {
    const origin = { origin: 'https://gateway.example.test' }
    const response = await post(closed, '/password/forgot', { email: 'new@example.test' }, origin)
    expect(await errorOf(response)).toMatchObject({ status: 403, code: 'mail_not_configured' })
    expect(closed.logLines.filter((line) => line.includes('#token='))).toEqual([])
  })
})

describe('the role', () => {
  test('a person’s role is read at every request', async () => {
    const person = await signUpPerson(open, { role: 'admin' })
    expect(person.viewer.role).toBe('admin')
    await open.gateway.database.sql`UPDATE users SET role = 'member' WHERE id = ${person.viewer.userId}`
    expect((await person.json('GET', `${SESSION}/me`)).body).toMatchObject({ role: 'member' })
  })

  test('making a person administrator ends the sessions of everybody who signed up with the address', async () => {
    const squatter = await signUpPerson(open)
    await upsertAdministrator(open.gateway.database, squatter.email, 'the real administrator')
    expect((await squatter.json('GET', `${SESSION}/me`)).status).toBe(401)
    const admin = await signInAgain(open, { email: squatter.email, password: 'the real administrator' })
    expect(admin.viewer.role).toBe('admin')
    await upsertAdministrator(open.gateway.database, squatter.email, 'the real administrator')
    expect((await admin.json('GET', `${SESSION}/me`)).status).toBe(200)
  })
})
