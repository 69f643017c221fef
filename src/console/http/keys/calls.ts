/** The common parts of the routes of API keys: dependencies, caller, the key in question, and refusals. */
import { Type } from '@sinclair/typebox'
import type { Accounts } from '@/accounts/accounts'
import type { ApiKeys, ChangeKeyOutcome, KeyListing } from '@/accounts/api-keys'
import type { KeyPolicy } from '@/accounts/policies/effective-limits'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import { GatewayError } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import { type GuardDeps, IN_ACCOUNT } from '@/console/http/guard'
import { maySee } from '@/console/http/key-authority'
import { KeyBody } from '@/console/http/key-bodies'
import type { ReadKeyUsage } from '@/console/usage-views/key-usage'
import type { Allowed } from '@/ledger/allowed'
import type { Ledger } from '@/ledger/ledger'

export type KeyRouteDeps = GuardDeps & {
  apiKeys: ApiKeys
  accounts: Accounts
  catalog: CatalogSource
  ledger: Ledger
  readKeyUsage: ReadKeyUsage
  /** What holds for all keys of an account; undefined if there is no such account. */
  readKeyPolicy(accountId: string): Promise<KeyPolicy | undefined>
  /** The rule for all keys of a member besides the account's; undefined if there is no such member. */
  readMemberKeyPolicy(of: { accountId: string; userId: string }): Promise<Allowed | undefined>
}

export const KeyParams = Type.Object({ ...IN_ACCOUNT, id: Type.String({ minLength: 1, maxLength: 64 }) })

export const CreatedKey = Type.Object({
  key: Type.String({ description: 'The whole key, shown only here' }),
  item: KeyBody,
})

/** A key of the account, of those that the viewer sees. */
export async function findOwn(apiKeys: ApiKeys, viewer: Member, keyId: string): Promise<KeyListing> {
  const key = await apiKeys.find(viewer.accountId, keyId)
  if (!key || !maySee(viewer, key)) throw noSuchKey()
  return key
}

/** Throws if the key was not changed. */
export function expectUpdated(outcome: ChangeKeyOutcome): void {
  if (outcome.kind !== 'updated') throw unchanged(outcome)
}

/** The error for a key that was not changed. */
export function unchanged({ kind }: Exclude<ChangeKeyOutcome, { kind: 'updated' }>): GatewayError {
  if (kind === 'no_owner') {
    const message = 'A key belongs to a member whose role allows keys. Transfer it to one.'
    return new GatewayError('conflict', message, { code: 'key_without_owner' })
  }
  if (kind !== 'built_in') return noSuchKey()
  const message = 'The key of the playground can be deactivated, but not renamed, rotated or deleted.'
  return new GatewayError('conflict', message, { code: 'built_in_key' })
}

/** The error for an account that is gone. */
export function noSuchAccount(): GatewayError {
  return new GatewayError('not_found', 'The account does not exist.')
}

function noSuchKey(): GatewayError {
  return new GatewayError('not_found', 'There is no such API key.', { code: 'key_not_found' })
}
