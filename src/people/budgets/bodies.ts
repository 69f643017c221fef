/** The JSON form of budgets: limit, amount spent and reset time of each window of a scope. */
import { type Static, Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { exactly, DecimalUsd as Usd } from '@/console/http/wire'
import type { StoredBudgetScope } from '@/db/schema'
import { titled } from '@/http/openapi/titled'
import { BUDGET_SCOPES, BUDGET_WINDOWS, type BudgetWindow, windowEnd } from '@/ledger/budgets'
import { formatUsd, type Nano, nano, parseUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { MAX_USD_CHARS } from '@/people/keys/fields'
import { BUDGET_FIELDS } from './fields'

const Window = oneOf(BUDGET_WINDOWS)
export const Scope = oneOf<StoredBudgetScope>([...BUDGET_SCOPES, 'new_member'], {
  description: '`new_member`: the budget of members who join',
})

export const BudgetBody = titled('Budget', {
  scope: Scope,
  scopeId: Type.String({ description: 'A member or a key; the account for its own and for new members' }),
  name: orNull(Type.String(), { description: 'Of the member or the key; null for the account' }),
  heldUsd: Type.String({ description: 'What open requests hold, in every window' }),
  windows: Type.Array(
    Type.Object({
      window: Window,
      limitUsd: orNull(Usd, { description: 'null: none' }),
      grantedUsd: Type.String({ description: 'Added to the limit in this window only' }),
      spentUsd: Type.String({ description: 'Charged in this window' }),
      endsAt: orNull(Type.String(), { description: 'When the window ends; null for `total`' }),
    }),
  ),
})
export type BudgetBody = Static<typeof BudgetBody>

const amount = (window: BudgetWindow) =>
  Type.Optional(
    orNull(Type.String({ maxLength: MAX_USD_CHARS, examples: ['25.50'] }), {
      description: `Decimal USD ${BUDGET_FIELDS[window].words} (UTC); 0 blocks, null = none, left out = as it is`,
    }),
  )

export const LimitsBody = exactly(
  {
    dayUsd: amount('day'),
    weekUsd: amount('week'),
    monthUsd: amount('month'),
    totalUsd: amount('total'),
    givenToMembers: Type.Optional(
      Type.Literal(true, {
        description: 'For `new_member`: also gives the budget to present members without one',
      }),
    ),
  },
  { title: 'BudgetLimits' },
)

export const GrantBody = exactly({
  window: Window,
  usd: Type.String({ maxLength: MAX_USD_CHARS, description: 'Decimal USD above 0', examples: ['25'] }),
})

/** Parses limits. Throws `invalid_request` for invalid amounts. */
export function readLimits(body: Static<typeof LimitsBody>): Partial<Record<BudgetWindow, Nano | null>> {
  const limits: Partial<Record<BudgetWindow, Nano | null>> = {}
  for (const window of BUDGET_WINDOWS) {
    const { wire } = BUDGET_FIELDS[window]
    const text = body[wire]
    if (text !== undefined) limits[window] = text === null ? null : readUsd(text, wire)
  }
  return limits
}

/** Parses an amount of at least `least`. Throws `invalid_request`. */
export function readUsd(text: string, field: string, least = 0): Nano {
  const value = parseUsd(text)
  if (value !== undefined && value >= least) return value
  throw invalidRequest('The budget must be an amount of USD such as 25 or 25.50.', field)
}

/** The limits of a budget that its form changes. A key's monthly limit is not among them, since it is a setting of the key. */
export function limitsIn({ scope, windows }: BudgetBody): Record<string, string | null> {
  const own = windows.filter(({ window }) => scope !== 'key' || window !== 'month')
  return Object.fromEntries(own.map(({ window, limitUsd }) => [window, limitUsd]))
}

type LimitsBefore = Partial<Record<BudgetWindow, { limit: Nano }>>

/** Limits as {@link limitsIn} returns them, from a stored budget. */
export function limitsBefore(scope: StoredBudgetScope, limits: LimitsBefore): Record<string, string | null> {
  const own = BUDGET_WINDOWS.filter((window) => scope !== 'key' || window !== 'month')
  return Object.fromEntries(own.map((window) => [window, usdOf(limits[window]?.limit)]))
}

const usdOf = (limit: Nano | undefined) => (limit === undefined ? null : formatUsd(limit))

export type Known = {
  limits: Partial<Record<BudgetWindow, { limit: Nano; grant: Nano; grantAt: number }>>
  spent: Record<BudgetWindow, number>
  held: number
}

/** A budget as a response body. `isWhole` includes windows without a limit. `now`: the numbers of the current day, week and month. */
export function budgetBody(
  of: Pick<BudgetBody, 'scope' | 'scopeId' | 'name'>,
  { limits, spent, held }: Known,
  { nowMs, now, isWhole }: { nowMs: number; now: Record<BudgetWindow, number>; isWhole: boolean },
): BudgetBody {
  return {
    ...of,
    heldUsd: formatUsd(nano(held)),
    windows: BUDGET_WINDOWS.filter((window) => isWhole || limits[window]).map((window) => {
      const own = limits[window]
      const endMs = windowEnd(window, nowMs)
      return {
        window,
        limitUsd: own ? formatUsd(own.limit) : null,
        grantedUsd: formatUsd(own && own.grantAt === now[window] ? own.grant : nano(0)),
        spentUsd: formatUsd(nano(spent[window])),
        endsAt: endMs === undefined ? null : new Date(endMs).toISOString(),
      }
    }),
  }
}
