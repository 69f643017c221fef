/** Routes of budgets: the account's, its members' and its keys'. Developers see only those that limit themselves. */
import { type Static, Type } from '@sinclair/typebox'
import type { ApiKeys } from '@/accounts/api-keys'
import type { ChangedBy } from '@/accounts/audit'
import type { BudgetOf, Budgets, ChangeBudgetOutcome } from '@/accounts/budgets/budgets'
import type { Members } from '@/accounts/members/members'
import { mayDo } from '@/accounts/members/permissions'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, IN_ACCOUNT } from '@/console/http/guard'
import { newestFirst, PageQuery, type Place, pageOf, placeOfMember } from '@/console/http/pages'
import { listOf, mapPage } from '@/console/http/wire'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import type { PageRequest } from '@/db/paging'
import { BUDGET_WINDOWS, type BudgetWindow, windowNumbers } from '@/ledger/budgets'
import type { Ledger } from '@/ledger/ledger'
import {
  BudgetBody,
  budgetBody,
  fieldOf,
  GrantBody,
  type Known,
  LimitsBody,
  readLimits,
  readUsd,
  Scope,
} from './budget-bodies'

export type BudgetRouteDeps = GuardDeps & {
  budgets: Budgets
  ledger: Ledger
  apiKeys: ApiKeys
  members: Members
}

type BudgetPlace = { scope: BudgetOf['scope']; scopeId: string }

const BudgetParams = Type.Object({
  ...IN_ACCOUNT,
  scope: Scope,
  scopeId: Type.String({ minLength: 1, maxLength: 100, pattern: '^[\\w-]+$' }),
})

const BudgetList = listOf(BudgetBody, {
  description: 'All existing budgets; developers see their own and their keys’',
})

/** Mounts `/dashboard/api/a/:accountId/budgets`. */
export function budgetRoutes(deps: BudgetRouteDeps) {
  return guarded(deps, 'budget-routes', `${ACCOUNT_PREFIX}/budgets`)
    .get('', ({ viewer, query }) => list(deps, viewer, query), {
      may: 'usage.read',
      query: PageQuery,
      response: BudgetList,
      detail: {
        summary: 'List budgets',
        description:
          'Limits and spending of the account, its members and its keys. A key’s monthly budget is one of the key’s limits.',
      },
    })
    .get('/:scope/:scopeId', ({ viewer, params }) => detail(deps, viewer, params), {
      may: 'usage.read',
      params: BudgetParams,
      response: BudgetBody,
      detail: {
        summary: 'Get the budget of one scope',
        description: 'With every window, also without a limit: earlier spending counts once a limit is set.',
      },
    })
    .put('/:scope/:scopeId', ({ viewer, by, params, body }) => setBudget(deps, viewer, by, params, body), {
      may: 'budgets.change',
      params: BudgetParams,
      body: LimitsBody,
      response: BudgetBody,
      detail: {
        summary: 'Set the budget of one scope',
        description:
          'Applies to the next request, on every gateway. Earlier spending in a window counts. A smaller window above a larger one is a 400.',
      },
    })
    .post(
      '/:scope/:scopeId/grant',
      async ({ viewer, by, params, body }) => {
        const amount = readUsd(body.usd, 'usd', 1)
        const grant = { ...scopeOf(viewer, params), window: body.window, amount, by }
        expectUpdated(await deps.budgets.grant(grant, Date.now()))
        return detail(deps, viewer, params)
      },
      {
        may: 'budgets.change',
        params: BudgetParams,
        body: GrantBody,
        response: BudgetBody,
        detail: {
          summary: 'Grant more for the window of now',
          description: 'Each call adds to the grant, which ends with the window. The audit log has it.',
        },
      },
    )
}

/** Sets the budget of one scope of the account. */
export async function setBudget(
  deps: BudgetRouteDeps,
  viewer: Member,
  by: ChangedBy,
  params: BudgetPlace,
  body: Static<typeof LimitsBody>,
) {
  const of = scopeOf(viewer, params)
  const limits = readLimits(body)
  if (of.scope === 'key' && limits.month !== undefined)
    throw invalidRequest("A key's budget of the month is one of its limits: change it with the key.", 'monthUsd')
  if (of.scope !== 'new_member' && body.givenToMembers)
    throw invalidRequest('Only what new members are given can be given to members.', 'givenToMembers')
  const isForMembersToo = body.givenToMembers === true
  expectUpdated(await deps.budgets.change({ ...of, limits, isForMembersToo, by }))
  return detail(deps, viewer, params)
}

async function list(deps: BudgetRouteDeps, viewer: Member, query: PageRequest) {
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

/** The budget of one scope, with every window. */
async function detail(deps: BudgetRouteDeps, viewer: Member, params: BudgetPlace) {
  const { accountId, scope, scopeId } = scopeOf(viewer, params)
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
  { apiKeys, members }: BudgetRouteDeps,
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

function scopeOf({ accountId }: Member, { scope, scopeId }: Pick<BudgetOf, 'scope' | 'scopeId'>): BudgetOf {
  return { accountId, scope, scopeId }
}

function expectUpdated(outcome: ChangeBudgetOutcome): void {
  switch (outcome.kind) {
    case 'updated':
      return
    case 'unknown':
      throw noSuchScope()
    case 'no_limit':
      throw invalidRequest('There is no limit in this window to add to.', 'window')
    case 'above_larger':
      throw invalidRequest(
        `The budget of the ${outcome.smaller} may not be above that of ${outcome.larger === 'total' ? 'all time' : `the ${outcome.larger}`}.`,
        fieldOf(outcome.smaller),
      )
  }
}

function noSuchScope(): GatewayError {
  return new GatewayError('not_found', 'There is no such member or key in this account.', { code: 'budget_not_found' })
}
