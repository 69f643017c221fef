/** Which keys a member sees, and what of them they may change. */
import type { KeyChanges, KeyListing } from '@/accounts/api-keys'
import { limitsRaised } from '@/accounts/key-limits'
import { mayDo } from '@/accounts/members/permissions'
import type { Member } from '@/console/auth/viewer'
import type { DefaultLimits, KeyLimits } from '@/ledger/outcomes'
import { notPermitted } from './guard'

/** A key of which nothing was said: what a new one is compared with. */
export const NO_LIMITS: KeyLimits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrency: null,
  monthlyBudget: null,
  expiresAtMs: null,
  allowedModels: null,
}

/** Whether the key is among those that the member sees. */
export function maySee({ accountRole, userId }: Member, { createdBy }: Pick<KeyListing, 'createdBy'>): boolean {
  return mayDo(accountRole, 'usage.readAll') || createdBy === userId
}

/** Throws 403 for changes that are not for this member: of addresses and tags, or of anything but the budget by who only looks after bills. */
export function checkFields({ accountRole }: Member, changes: KeyChanges): void {
  if (changes.allowedAddresses !== undefined && !mayDo(accountRole, 'limits.raise')) {
    throw notPermitted('Your role in this account does not say where keys may be used from.', 'allowedAddresses')
  }
  if (changes.tags !== undefined && !mayDo(accountRole, 'limits.raise')) {
    throw notPermitted('Your role in this account does not say by which tags usage is sorted.', 'tags')
  }
  if (mayDo(accountRole, 'keys.use')) return
  const other = (Object.keys(changes) as (keyof KeyChanges)[]).find((field) => field !== 'monthlyBudget')
  if (other) throw notPermitted('Your role in this account changes budgets alone.', paramOf(other))
}

/** Throws 403 where the changes allow a key more than `present` does, and that is not for this member to say. */
export function checkRaise(
  { accountRole }: Member,
  changes: KeyChanges,
  present: KeyLimits,
  defaults: DefaultLimits,
): void {
  const mayRaise = (limit: keyof KeyLimits) =>
    mayDo(accountRole, limit === 'monthlyBudget' ? 'budgets.change' : 'limits.raise')
  const raised = limitsRaised(changes, present, defaults).find((limit) => !mayRaise(limit))
  if (raised) throw notPermitted('Your role in this account lowers limits, but raises none.', paramOf(raised))
}

function paramOf(field: keyof KeyChanges): string {
  if (field === 'monthlyBudget') return 'monthlyBudgetUsd'
  return field === 'expiresAtMs' ? 'expiresAt' : field
}
