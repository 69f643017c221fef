/** A person who has signed up on a test's gateway and is signed in, with the requests a browser would send for them. */
import type { Viewer } from '@/console/auth/viewer'
import { assert } from '@/lib/assert'
import type { TestGateway } from './gateway'

export type JsonAnswer = { status: number; headers: Headers; body: unknown }

export interface Person {
  readonly viewer: Pick<Viewer, 'userId' | 'email' | 'name' | 'role' | 'sessionId'> & {
    /** The account that the person was given. */
    accountId: string
  }
  readonly email: string
  readonly password: string
  /** What a Cookie header holds. */
  readonly cookie: string
  /**
   * Sends a request as a page of the dashboard does: with the session's cookie and the dashboard's origin. `:accountId` in the path is
   * the account that the person was given.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** The same with a JSON body, giving the JSON of the answer (null if it has none). */
  json(method: string, path: string, body?: unknown): Promise<JsonAnswer>
}

/** An admin counts as one who has set up an authenticator app, unless `totp` says otherwise. */
export type PersonOptions = { role?: 'admin'; totp?: 'unset'; name?: string; email?: string; password?: string }

/** Signs somebody up, with an address of their own and an empty account. An admin becomes one by the operator's hand. */
export async function signUpPerson(gateway: TestGateway, options: PersonOptions = {}): Promise<Person> {
  const { name = 'Test Person', password = 'a horse on a battery' } = options
  const email = options.email ?? `${crypto.randomUUID()}@example.test`
  const response = await fetch(`${gateway.url}/dashboard/api/session/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url },
    body: JSON.stringify({ email, password, name }),
  })
  assert(response.ok, `signing up failed: ${response.status} ${await response.clone().text()}`)
  const { sql } = gateway.gateway.database
  if (options.role) {
    await sql`UPDATE users SET role = ${options.role}, two_factor_enabled = ${options.totp !== 'unset'} WHERE email = ${email}`
  }
  return personWith(gateway, cookieOf(response), { email, password })
}

/** The person behind `cookie`, the text of a Cookie header. */
export async function personWith(
  gateway: TestGateway,
  cookie: string,
  { email, password }: { email: string; password: string },
): Promise<Person> {
  let ownAccountId = ''
  function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('cookie', cookie)
    if (!headers.has('origin')) headers.set('origin', gateway.url)
    return fetch(gateway.url + path.replace(':accountId', ownAccountId), { ...init, headers })
  }
  async function json(method: string, path: string, body?: unknown): Promise<JsonAnswer> {
    const isSent = body !== undefined
    const response = await send(path, {
      method,
      ...(isSent && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }
  const me = await json('GET', '/dashboard/api/session/me')
  assert(me.status === 200, `the session is not known: ${JSON.stringify(me.body)}`)
  const { userId, accountId, name, role, sessionId } = me.body as Person['viewer']
  ownAccountId = accountId
  return { viewer: { userId, accountId, email, name, role, sessionId }, email, password, cookie, fetch: send, json }
}

/** The Cookie header that a browser would send after `response`; a cookie that was taken away is left out. */
export function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .filter((cookie) => !/max-age=0/i.test(cookie))
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')
}
