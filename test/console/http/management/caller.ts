/** Management keys for tests, and requests by them, each from an address of its own so that no limit of strangers is met. */
import type { TestGateway } from '@test/support/gateway'
import type { JsonAnswer, Person } from '@test/support/person'
import { SCOPES, type Scope } from '@/accounts/management/scopes'
import { assert } from '@/lib/assert'

/** What a gateway needs so that {@link send} may say where a request comes from. */
export const BEHIND_A_PROXY = { TRUSTED_PROXY_HOPS: '1' }

let sent = 0

/** One request with a key of any kind, or without; a body is sent as JSON. */
export async function send(
  gateway: TestGateway,
  key: string | undefined,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<JsonAnswer> {
  sent += 1
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      'x-forwarded-for': `10.${sent >> 8}.${sent & 255}.1`,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

type Made = { id: string; key: string }

/** A management key of the account that the person was given, with every scope unless some are named. */
export async function makeManagementKey(person: Person, scopes: readonly Scope[] = SCOPES): Promise<Made> {
  const path = '/dashboard/api/a/:accountId/management-keys'
  const { status, body } = await person.json('POST', path, { name: scopes.join() || 'none', scopes })
  assert(status === 200, `a management key is made: ${JSON.stringify(body)}`)
  const { key, item } = body as { key: string; item: { id: string } }
  return { id: item.id, key }
}
