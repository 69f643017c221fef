/** Which keys and which usage a member sees, and what of the keys they may change. */
import type { KeyChanges, KeyListing } from '@/accounts/api-keys'
import { limitsRaised } from '@/accounts/key-limits'
import { mayDo } from '@/accounts/members/permissions'
import { GatewayError } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import type { Sight } from '@/console/usage-views/usage-filter'
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
  allowedProviders: null,
}

/** What of the account's usage the member sees: all of it, or what their own keys did. */
export function sightOf({ accountId, userId, seesAllUsage }: Member): Sight {
  return { accountId, ...(!seesAllUsage && { madeBy: userId }) }
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

/**
 * Throws 403 for a service key by a person who may not make one, and `invalid_request` where nothing is said of what it may spend: no member's budget
 * binds it.
 */
export function checkService({ accountRole }: Member, body: { monthlyBudgetUsd?: string | null }): void {
  if (!mayDo(accountRole, 'limits.raise')) {
    throw notPermitted('Your role in this account makes keys of your own alone.', 'isService')
  }
  if (body.monthlyBudgetUsd !== undefined) return
  const message = 'No member’s budget binds a service key: say what it may spend in a month, or null for no limit.'
  throw new GatewayError('invalid_request', message, { code: 'budget_required', param: 'monthlyBudgetUsd' })
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
