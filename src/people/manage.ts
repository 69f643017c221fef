/** The operations that the management API offers to management keys with the needed scope. */
import type { Scope } from '@/accounts/management/scopes'
import { type AnyOperation, type Method, placeOf } from './operation'

/** `path` is relative to `/v1`, and to the account's prefix in the dashboard. */
export type ManagementOperation = { method: Method; path: string; scope: Scope; summary: string }

/** The operations that have a scope. */
export function managed(
  operations: readonly Pick<AnyOperation<never>, 'path' | 'scope' | 'summary'>[],
): ManagementOperation[] {
  return operations.flatMap(({ scope, summary, ...operation }) => {
    const { method, place: path } = placeOf(operation)
    return scope === undefined ? [] : [{ method, path, scope, summary }]
  })
}
