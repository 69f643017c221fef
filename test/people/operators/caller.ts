/** Operator keys for tests, and requests by them. */
import { send } from '@test/console/http/management/caller'
import type { TestGateway } from '@test/support/gateway'
import type { JsonAnswer } from '@test/support/person'
import { OPERATOR } from '@/accounts/audit'
import { createOperatorKeys, OPERATOR_SCOPES, type OperatorScope } from '@/accounts/management/operator-keys'

type Made = { keyId: string; key: string }
type Options = { scopes?: readonly OperatorScope[]; expiresAt?: Date; allowedAddresses?: string[] }

/** An operator key called Shop, with every scope unless some are named. */
export async function makeOperatorKey(gateway: TestGateway, options: Options = {}): Promise<Made> {
  const { scopes = OPERATOR_SCOPES, expiresAt = null, allowedAddresses = null } = options
  const keys = createOperatorKeys(gateway.gateway.database, 'svc')
  return await keys.create({ name: 'Shop', scopes, expiresAt, allowedAddresses }, OPERATOR)
}

/** Sends requests with one key to paths below `/v1/operator`. */
export function callerOf(gateway: TestGateway, { key }: Made) {
  return (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<JsonAnswer> =>
    send(gateway, key, method, `/v1/operator${path}`, body, headers)
}

let made = 0

/** A body for a new account, with an address of its own. */
export function newAccount(): { email: string; name: string } {
  made += 1
  return { email: `buyer-${made}-${crypto.randomUUID()}@example.test`, name: `Buyer ${made}` }
}

/** The id of what an answer shows. */
export function idOf({ body }: JsonAnswer): string {
  return (body as { id: string }).id
}

/** The code of a refusal. */
export function codeOf({ body }: JsonAnswer): string | null | undefined {
  return (body as { error?: { code: string | null } }).error?.code
}
