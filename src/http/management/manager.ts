/** Identifies the caller of the management API by a management key in the Authorization header, with its scopes. */
import type { ManagementKeys, Manager } from '@/accounts/management/management-keys'
import { holds, type Scope } from '@/accounts/management/scopes'
import { GatewayError } from '@/chat/error'
import { unusableKey } from '@/gateway/refuse-early'
import { bearerToken } from '@/http/auth'
import { clientAddress } from '@/http/client-address'
import { knowCaller } from '@/http/silence'
import type { Unpaid } from '@/http/unpaid'
import { createNetworks } from '@/lib/networks'

export type ManagerDeps = {
  managementKeys: Pick<ManagementKeys, 'identify'>
  unpaid: Unpaid
  trustedProxyHops: number
}

/** A request's management key. Throws `invalid_credentials`; `forbidden` for address or scope; `rate_limited` after too many. */
export async function requireManager(deps: ManagerDeps, request: Request, scope?: Scope): Promise<Manager> {
  const { managementKeys, unpaid } = deps
  unpaid.admitStranger(request)
  const manager = await managementKeys.identify(bearerToken(request.headers.get('authorization') ?? '') ?? '')
  if (!manager) {
    unpaid.stranger(request)
    const message =
      'This takes a management key, which owners and admins of an account make in the dashboard: none was sent, or none that is valid.'
    throw new GatewayError('invalid_credentials', message, { code: 'management_key_required' })
  }
  knowCaller(request)
  unpaid.answer(manager)
  const { allowedAddresses, scopes } = manager
  if (allowedAddresses && !createNetworks(allowedAddresses)(clientAddress(request, deps.trustedProxyHops))) {
    throw unusableKey({ kind: 'address_not_allowed' })
  }
  if (scope === undefined || holds(scopes, scope)) return manager
  throw scopeMissing(scope)
}

/** The error for a missing scope. */
export function scopeMissing(scope: Scope): GatewayError {
  const message = `This management key lacks the scope ${scope}.`
  return new GatewayError('forbidden', message, { code: 'scope_missing', details: { scope } })
}
