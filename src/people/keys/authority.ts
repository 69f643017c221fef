/** The permissions on keys: which keys and usage a member sees, and which settings they may change. */
import type { KeyChanges, KeyListing } from '@/accounts/api-keys'
import { limitsRaised, type OwnLimits } from '@/accounts/key-limits'
import { holds } from '@/accounts/management/scopes'
import { mayDo } from '@/accounts/members/permissions'
import { GatewayError } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import { notPermitted } from '@/console/http/guard'
import type { Sight } from '@/console/usage-views/usage-filter'
import { scopeMissing } from '@/http/management/manager'
import type { DefaultLimits } from '@/ledger/outcomes'
import { ZERO_NANO } from '@/lib/money'
import { FIELD_ROWS, fieldOf, KEY_FIELDS } from './fields'

const NO_LIMITS = Object.fromEntries(
  FIELD_ROWS.filter(({ raise }) => raise !== undefined).map(({ name, kind }) => [name, kind === 'flag' ? false : null]),
) as OwnLimits

/** The usage that the member sees: all of it, or their own requests. */
export function sightOf({ accountId, userId, seesAllUsage }: Member): Sight {
  return { accountId, ...(!seesAllUsage && { madeBy: userId }) }
}

/** Whether the member sees the key. */
export function maySee({ accountRole, userId }: Member, { createdBy }: Pick<KeyListing, 'createdBy'>): boolean {
  return mayDo(accountRole, 'usage.readAll') || createdBy === userId
}

/** Throws 403 for changes that this member may not make. The billing role changes only the budget. */
export function checkFields({ accountRole }: Member, changes: KeyChanges): void {
  const denied = FIELD_ROWS.find(
    ({ name, may }) => changes[name] !== undefined && may && !mayDo(accountRole, may.permission),
  )
  if (denied?.may) throw notPermitted(`Your role in this account ${denied.may.refusal}.`, denied.wire)
  if (mayDo(accountRole, 'keys.use')) return
  const other = (Object.keys(changes) as (keyof KeyChanges)[]).find((field) => field !== 'monthlyBudget')
  if (other) throw notPermitted('Your role in this account changes budgets alone.', paramOf(other))
}

/**
 * Throws 403 if the person may not make a service key. Throws `invalid_request` if the budget is missing, since no member's budget limits
 * such a key.
 */
export function checkService({ accountRole }: Member, body: { monthlyBudgetUsd?: string | null }): void {
  if (!mayDo(accountRole, 'limits.raise')) {
    throw notPermitted('Your role in this account makes keys of your own alone.', 'isService')
  }
  if (body.monthlyBudgetUsd !== undefined) return
  const message = 'No member’s budget binds a service key: say what it may spend in a month, or null for no limit.'
  throw new GatewayError('invalid_request', message, { code: 'budget_required', param: 'monthlyBudgetUsd' })
}

/** A new key is compared with no limits. If a management key without `budgets:write` makes it: with a budget of 0, so it gets none. */
export function limitsOfNone(member: Member): OwnLimits {
  return mayBudget(member) ? NO_LIMITS : { ...NO_LIMITS, monthlyBudget: ZERO_NANO }
}

/** Whether a management key may set budgets; true for people. */
function mayBudget({ managementScopes }: Member): boolean {
  return managementScopes === undefined || holds(managementScopes, 'budgets:write')
}

/** Throws 403 if a management key without `budgets:write` would transfer a key, which takes it out of its member's budgets. */
export function checkTransfer(member: Member, { createdBy }: Pick<KeyListing, 'createdBy'>): void {
  if (createdBy !== null && !mayBudget(member)) throw scopeMissing('budgets:write')
}

/** Throws 403 if the changes allow a key more than `present` does, and this member may not allow that. */
export function checkRaise(member: Member, changes: KeyChanges, present: OwnLimits, defaults: DefaultLimits): void {
  const { accountRole } = member
  const all = limitsRaised(changes, present, defaults)
  if (all.includes('monthlyBudget') && !mayBudget(member)) throw scopeMissing('budgets:write')
  const raised = all.find((limit) => !mayDo(accountRole, KEY_FIELDS[limit].raise))
  if (raised) throw notPermitted('Your role in this account lowers limits, but raises none.', paramOf(raised))
}

function paramOf(field: keyof KeyChanges): string {
  return field === 'name' ? field : fieldOf(field).wire
}

/** Throws 403 if a member whose role allows no keys wants to deactivate another member's key. */
export function checkSwitch({ accountRole, userId }: Member, { createdBy }: Pick<KeyListing, 'createdBy'>): void {
  if (!mayDo(accountRole, 'keys.use') && createdBy !== userId) throw notPermitted()
}
