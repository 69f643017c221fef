/** Queries and changes of management keys, for the page of API keys. */
import { useQuery } from '@tanstack/react-query'
import type { ManagementKeyBody } from '@/console/http/management/key-routes'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import { withProof } from '@/dashboard/components/step-up'
import { askAgain } from '@/dashboard/query'

export type { ManagementKeyBody } from '@/console/http/management/key-routes'
export type Scope = ManagementKeyBody['scopes'][number]

const MANAGEMENT_KEYS = ['management-keys'] as const

/** Scopes of a management key by resource: reading, and, if the resource can be changed, reading with changing. */
export const RESOURCES = [
  { label: 'API keys', read: 'keys:read', write: 'keys:write' },
  { label: 'Budgets', read: 'budgets:read', write: 'budgets:write' },
  { label: 'Members and invitations', read: 'members:read', write: 'members:write' },
  { label: 'Usage report', read: 'usage:read' },
  { label: 'Orders of credit', read: 'billing:read' },
  { label: 'Audit log', read: 'audit:read' },
] as const satisfies readonly { label: string; read: Scope; write?: Scope }[]

/** Management keys that are not revoked. */
export function useManagementKeys() {
  return useQuery({ queryKey: MANAGEMENT_KEYS, queryFn: () => answer(accountApi()['management-keys'].get()) })
}

/** Creates a management key after a fresh proof of identity, and returns its text. */
export async function createManagementKey(key: {
  name: string
  scopes: Scope[]
  expiresAt: string | null
}): Promise<string> {
  const made = await withProof(() => answer(accountApi()['management-keys'].post(key)))
  await managementKeysChanged()
  return made.key
}

/** Revokes a management key permanently. */
export async function revokeManagementKey({ id }: ManagementKeyBody): Promise<void> {
  await answer(accountApi()['management-keys']({ id }).delete())
  await managementKeysChanged()
}

function managementKeysChanged(): Promise<void> {
  return askAgain({ queryKey: MANAGEMENT_KEYS })
}
