/** Budgets of the account, its members and its keys. Developers see only the budgets that limit them. */
import { type Static, Type } from '@sinclair/typebox'
import type { ApiKeys } from '@/accounts/api-keys'
import type { ChangedBy } from '@/accounts/audit'
import type { BudgetOf, Budgets, ChangeBudgetOutcome } from '@/accounts/budgets/budgets'
import { mayDo } from '@/accounts/members/permissions'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import type { Caller } from '@/console/http/changed-by'
import type { GuardDeps } from '@/console/http/guard'
import { newestFirst, type Place, pageOf, placeOfMember } from '@/console/http/pages'
import { mapPage } from '@/console/http/wire'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import type { PageRequest } from '@/db/paging'
import { BUDGET_WINDOWS, type BudgetWindow, windowNumbers } from '@/ledger/budgets'
import type { Ledger } from '@/ledger/ledger'
import type { Members } from '@/people/members/members'
import { expectVersion } from '@/people/version'
import {
  type BudgetBody,
  budgetBody,
  type GrantBody,
  type Known,
  type LimitsBody,
  limitsBefore,
  readLimits,
  readUsd,
  Scope,
} from './bodies'
import { BUDGET_FIELDS } from './fields'

export type BudgetDeps = GuardDeps & {
  budgets: Budgets
  ledger: Ledger
  apiKeys: ApiKeys
  members: Members
}

/** The parameters in budget paths: the kind of scope, and its id. */
export const BUDGET_PARAMS = {
  scope: Scope,
  scopeId: Type.String({ minLength: 1, maxLength: 100, pattern: '^[\\w-]+$' }),
}

type Params = Static<ReturnType<typeof Type.Object<typeof BUDGET_PARAMS>>>
type Context = Pick<Caller, 'viewer'> & {
  request: Request
  by: ChangedBy
  deps: BudgetDeps
  params: { scope: string; scopeId: string }
}

/** Sets limits of one scope. Throws `invalid_request` and `not_found`. */
export async function setBudget(context: Context, body: Static<typeof LimitsBody>): Promise<BudgetBody> {
  const of = scopeOf(context)
  const limits = readLimits(body)
  if (of.scope === 'key' && limits.month !== undefined)
    throw invalidRequest("A key's budget of the month is one of its limits: change it with the key.", 'monthUsd')
  if (of.scope !== 'new_member' && body.givenToMembers)
    throw invalidRequest('Members can only be given the budget of new members.', 'givenToMembers')
  const isForMembersToo = body.givenToMembers === true
  const check = (before: Parameters<typeof limitsBefore>[1]) =>
    expectVersion(context.request, limitsBefore(of.scope, before))
  expectUpdated(await context.deps.budgets.change({ ...of, limits, isForMembersToo, by: context.by, check }))
  return await showBudget(context)
}

/** Adds to the limit of the current window. Throws as {@link setBudget} does. */
export async function grantBudget(context: Context, { window, usd }: Static<typeof GrantBody>): Promise<BudgetBody> {
  const grant = { ...scopeOf(context), window, amount: readUsd(usd, 'usd', 1), by: context.by }
  expectUpdated(await context.deps.budgets.grant(grant, Date.now()))
  return await showBudget(context)
}

/** A page of the budgets that the viewer sees. */
export async function listBudgets({ deps, viewer }: Pick<Context, 'deps' | 'viewer'>, query: PageRequest) {
  const { accountId } = viewer
  const [rows, scopes, now] = await Promise.all([
    deps.budgets.list(accountId),
    scopesOf(deps, viewer),
    deps.ledger.readBudgets(accountId),
  ])
  const limitsOf = new Map(rows.map(({ scope, scopeId, limits }) => [`${scope}:${scopeId}`, limits]))
  const page = pageOf(scopes, query, ({ place }) => place)
  return mapPage(page, ({ scope, scopeId, name }) => {
    const limits = limitsOf.get(`${scope}:${scopeId}`) ?? {}
    return bodyOf({ scope, scopeId, name }, { limits, ...countedOf(now, scope, scopeId) }, false)
  })
}

/** One budget with every window. Throws `not_found`. */
export async function showBudget(context: Context): Promise<BudgetBody> {
  const { deps, viewer } = context
  const { accountId, scope, scopeId } = scopeOf(context)
  const [rows, scopes, now] = await Promise.all([
    deps.budgets.list(accountId),
    scopesOf(deps, viewer),
    deps.ledger.readBudgets(accountId),
  ])
  const found = scopes.find((one) => one.scope === scope && one.scopeId === scopeId)
  if (!found) throw noSuchScope()
  const { name } = found
  const limits = rows.find((row) => row.scope === scope && row.scopeId === scopeId)?.limits ?? {}
  const isCounted = scope === 'new_member' || now?.entries.has(fieldIn(scope, scopeId))
  const counted = isCounted
    ? countedOf(now, scope, scopeId)
    : { held: 0, spent: await deps.budgets.spent({ accountId, scope, scopeId }, Date.now()) }
  return bodyOf({ scope, scopeId, name }, { limits, ...counted }, true)
}

function bodyOf(of: Parameters<typeof budgetBody>[0], known: Known, isWhole: boolean): BudgetBody {
  const nowMs = Date.now()
  return budgetBody(of, known, { nowMs, now: windowNumbers(nowMs), isWhole })
}

const fieldIn = (scope: string, scopeId: string) => (scope === 'account' ? scope : `${scope}:${scopeId}`)

/** The ledger's amounts spent and held; empty for an unknown scope. */
function countedOf(
  now: Awaited<ReturnType<Ledger['readBudgets']>>,
  scope: string,
  scopeId: string,
): Pick<Known, 'spent' | 'held'> {
  const entry = now?.entries.get(fieldIn(scope, scopeId))
  const current = windowNumbers(now?.nowMs ?? 0)
  const spentIn = (window: BudgetWindow) => {
    const own = entry?.windows[window]
    return own && own.at >= current[window] ? own.spent : 0
  }
  const spent = Object.fromEntries(BUDGET_WINDOWS.map((window) => [window, spentIn(window)]))
  return { spent: spent as Record<BudgetWindow, number>, held: entry?.held ?? 0 }
}

type SeenScope = Pick<BudgetBody, 'scope' | 'scopeId' | 'name'> & { place: Place }

/** Every scope that the viewer sees, with its name; null for the account itself. Keys come after members. */
async function scopesOf(
  { apiKeys, members }: BudgetDeps,
  { accountId, userId, accountRole }: Member,
): Promise<SeenScope[]> {
  const seesAll = mayDo(accountRole, 'usage.readAll')
  const [keys, people] = await Promise.all([apiKeys.list(accountId), members.list(accountId)])
  const whole = (['account', 'new_member'] as const).map(
    (scope, index): SeenScope => ({ scope, scopeId: accountId, name: null, place: [-1, index, accountId] }),
  )
  return [
    ...(seesAll ? whole : []),
    ...people
      .filter((person) => seesAll || person.userId === userId)
      .map((person) => ({
        ...({ scope: 'member', scopeId: person.userId, name: person.name } as const),
        place: placeOfMember(person),
      })),
    ...keys
      .filter((key) => seesAll || key.createdBy === userId)
      .map(({ keyId, name, createdAt }): SeenScope => {
        const [, order] = newestFirst(createdAt, keyId)
        return { scope: 'key', scopeId: keyId, name, place: [ACCOUNT_ROLES.length, order, keyId] }
      }),
  ]
}

/** The budget that the path names. The path's schema has checked the scope. */
function scopeOf({ viewer: { accountId }, params: { scope, scopeId } }: Context): BudgetOf {
  return { accountId, scope: scope as Params['scope'], scopeId }
}

function expectUpdated(outcome: ChangeBudgetOutcome): void {
  switch (outcome.kind) {
    case 'updated':
      return
    case 'unknown':
      throw noSuchScope()
    case 'no_limit':
      throw invalidRequest('This window has no limit that could be raised.', 'window')
    case 'above_larger':
      throw invalidRequest(
        `The budget of the ${outcome.smaller} may not be above that of ${outcome.larger === 'total' ? 'all time' : `the ${outcome.larger}`}.`,
        BUDGET_FIELDS[outcome.smaller].wire,
      )
  }
}

function noSuchScope(): GatewayError {
  return new GatewayError('not_found', 'There is no such member or key in this account.', { code: 'budget_not_found' })
}
