/** What tests of sign-in share: plain requests, error codes, and the links that a gateway without mail writes to its log. */
import type { TestGateway } from '@test/support/gateway'
import { cookieOf, type Person, personWith } from '@test/support/person'
import { until } from '@test/support/until'
import { assert } from '@/lib/assert'

export const SESSION = '/dashboard/api/session'

/** Posts JSON to a route of sign-in as a page of the dashboard does, without a session. */
export function post(
  gateway: TestGateway,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.url}${SESSION}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url, ...headers },
    body: JSON.stringify(body),
  })
}

/** What an answer says went wrong. */
export async function errorOf(response: Response): Promise<{ status: number; code: string; param: string | null }> {
  const { error } = (await response.json()) as { error: { code: string; param: string | null } }
  return { status: response.status, code: error.code, param: error.param }
}

/** Signs somebody in once more, as from another browser. */
export async function signInAgain(
  gateway: TestGateway,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<Person> {
  const response = await post(gateway, '/sign-in', { email, password })
  assert(response.ok, `signing in failed: ${await response.clone().text()}`)
  return personWith(gateway, cookieOf(response), { email, password })
}

/** Waits for the newest link to `page` that was logged for `email`, and returns its token. */
export async function loggedToken(
  gateway: TestGateway,
  email: string,
  page: 'verify-email' | 'reset-password' | 'invitation',
): Promise<string> {
  const { sql } = gateway.gateway.database
  const waiting = () => sql`SELECT FROM mails WHERE recipient = ${email.toLowerCase()} AND state = 'waiting'`
  await until(async () => (await waiting()).length === 0, 'the newest mail')
  const pattern = new RegExp(`"to":"${email.toLowerCase()}".*/dashboard/${page}#token=([0-9A-Za-z]+)`)
  return until(() => gateway.logLines.flatMap((line) => pattern.exec(line)?.[1] ?? []).at(-1), `a link for ${email}`)
}
