/** Identifies programs by a management key or an operator key in the Authorization header, with its scopes. */
import type { ManagementKeys, Manager } from '@/accounts/management/management-keys'
import type { OperatorKey, OperatorKeys, OperatorScope } from '@/accounts/management/operator-keys'
import { holds, type Scope } from '@/accounts/management/scopes'
import { GatewayError } from '@/chat/error'
import { unusableKey } from '@/gateway/refuse-early'
import { bearerToken } from '@/http/auth'
import { clientAddress } from '@/http/client-address'
import { knowCaller } from '@/http/silence'
import type { Unpaid } from '@/http/unpaid'
import type { Addresses } from '@/ledger/address-lists'
import { createNetworks } from '@/lib/networks'

export type ManagerDeps = {
  managementKeys: Pick<ManagementKeys, 'identify'>
  unpaid: Unpaid
  trustedProxyHops: number
}

/** A request's management key. Throws `invalid_credentials`; `forbidden` for a wrong address or scope; `rate_limited` after many errors. */
export async function requireManager(deps: ManagerDeps, request: Request, scope?: Scope): Promise<Manager> {
  const manager = await requireProgram(deps, request, deps.managementKeys, 'management')
  if (scope === undefined || holds(manager.scopes, scope)) return manager
  throw scopeMissing(scope)
}

/** The operator key of a request, see {@link requireManager}. */
export async function requireOperator(
  deps: Omit<ManagerDeps, 'managementKeys'> & { operatorKeys: Pick<OperatorKeys, 'identify'> },
  request: Request,
  scope: OperatorScope,
): Promise<OperatorKey> {
  const operator = await requireProgram(deps, request, deps.operatorKeys, 'operator')
  if (operator.scopes.includes(scope)) return operator
  throw scopeMissing(scope, 'operator')
}

const MISSING = {
  management: {
    words: 'a management key, which owners and admins of an account make in the dashboard',
    code: 'management_key_required',
  },
  operator: {
    words: 'an operator key, which the operator makes on the command line',
    code: 'operator_key_required',
  },
}

type ProgramKind = keyof typeof MISSING

/** The key of a request, if it is valid and may be used from the request's address. An operator key counts as an account of its own. */
async function requireProgram<Found extends { keyId: string; accountId?: string; allowedAddresses: Addresses }>(
  { unpaid, trustedProxyHops }: Pick<ManagerDeps, 'unpaid' | 'trustedProxyHops'>,
  request: Request,
  keys: { identify(text: string): Promise<Found | undefined> },
  kind: ProgramKind,
): Promise<Found> {
  unpaid.admitStranger(request)
  const found = await keys.identify(bearerToken(request.headers.get('authorization') ?? '') ?? '')
  if (!found) {
    unpaid.stranger(request)
    const { words, code } = MISSING[kind]
    const message = `This takes ${words}: none was sent, or none that is valid.`
    throw new GatewayError('invalid_credentials', message, { code })
  }
  knowCaller(request)
  const { keyId, accountId = keyId, allowedAddresses } = found
  unpaid.answer({ accountId, keyId })
  if (allowedAddresses && !createNetworks(allowedAddresses)(clientAddress(request, trustedProxyHops))) {
    throw unusableKey({ kind: 'address_not_allowed' })
  }
  return found
}

/** The error for a missing scope. */
export function scopeMissing(scope: Scope | OperatorScope, kind: ProgramKind = 'management'): GatewayError {
  const message = `This ${kind} key lacks the scope ${scope}.`
  return new GatewayError('forbidden', message, { code: 'scope_missing', details: { scope } })
}
