/** Finds the alerts that are due, from an account's balance, spending and earlier alerts. Pure. */
import type { SingleAlertKind } from '@/accounts/mails/alert-templates'
import type { NewMail } from '@/accounts/mails/templates'
import { type BudgetScope, type BudgetWindow, windowEnd, windowNumbers } from '@/ledger/budgets'
import { NANO_PER_USD } from '@/lib/money'

/** An alert can be sent again after the balance has risen above the alert's threshold times this factor. */
const REARM_RATIO = 1.1
/** At most one mail about the balance in this time. */
export const PAUSE_MS = 6 * 3_600_000
/** Percentages of a budget at which an alert is sent. */
const BUDGET_LEVELS = [50, 80, 100] as const
/** A day's spending is unusual if it exceeds the median by this factor, and this amount. */
const UNUSUAL_RATIO = 3
const UNUSUAL_LEAST_NANO = NANO_PER_USD

export type BudgetFigure = {
  scope: BudgetScope
  scopeId: string
  /** Name of the member or key; '' for the account. */
  scopeName: string
  /** The member who is limited and therefore also gets the mail; null: only the account's managers get it. */
  memberId: string | null
  window: BudgetWindow
  spent: number
  /** Includes the amounts granted for this window. */
  limit: number
}

type Threshold = { name: string; threshold: number }

/** The alert for a balance that can pay no request. Every account has it, whatever its thresholds. */
export const EMPTY: Threshold = { name: 'balance:empty', threshold: NANO_PER_USD / 100 }

/** An account's figures in Postgres; amounts in nano-USD. */
export type Figures = {
  accountId: string
  accountName: string
  balance: number
  spent: number
  thresholds: readonly Threshold[]
  budgets: readonly BudgetFigure[]
  /** Amounts spent today and on each of the last 14 days, latest first. */
  days: readonly number[]
}

export type AlertState = { mark: number; level: number; isPending: boolean; firedAtMs: number }

type AlertMail = Extract<NewMail, { kind: SingleAlertKind }>

export type DueAlert = {
  mail: AlertMail
  /** A further recipient besides the account's managers. */
  memberId: string | null
}

type Crossings = { due: DueAlert[]; states: Map<string, AlertState> }

/** Finds due alerts. `last`: the account's balance and total spending at the last check; 0 before the first check. */
export function findCrossings(
  figures: Figures,
  last: { balance: number; spent: number },
  before: ReadonlyMap<string, AlertState>,
  nowMs: number,
): Crossings {
  const crossings: Crossings = { due: [], states: new Map() }
  // The highest balance possible since the last check: as if every credit had come before all spending.
  const peak = Math.max(last.balance, figures.balance + figures.spent - last.spent)
  lookAtBalance(figures, peak, before, nowMs, crossings)
  for (const budget of figures.budgets) lookAtBudget(figures, budget, before, nowMs, crossings)
  lookAtDay(figures, before, nowMs, crossings)
  return crossings
}

const ARMED = 0

/** If several thresholds are crossed at once, only the lowest is reported. */
function lookAtBalance(
  figures: Figures,
  peak: number,
  before: ReadonlyMap<string, AlertState>,
  nowMs: number,
  { due, states }: Crossings,
): void {
  const crossed: Threshold[] = []
  for (const one of figures.thresholds) {
    const { name, threshold } = one
    const state = before.get(name)
    const isBelow = figures.balance < threshold
    const isTold = state?.mark === threshold && peak < threshold * REARM_RATIO
    if (isBelow && !isTold && (peak >= threshold || state?.isPending === true)) crossed.push(one)
    else if (state && !isTold && (state.isPending || state.mark !== ARMED))
      states.set(name, { ...state, mark: ARMED, isPending: false })
  }
  const lowest = crossed.at(-1)
  if (!lowest) return
  const last = before.get(lowest.name)
  const isTooSoon = last !== undefined && nowMs - last.firedAtMs < PAUSE_MS
  for (const { name, threshold } of crossed) {
    const firedAtMs = isTooSoon ? (before.get(name)?.firedAtMs ?? last.firedAtMs) : nowMs
    states.set(name, { mark: isTooSoon ? ARMED : threshold, level: 0, isPending: isTooSoon, firedAtMs })
  }
  if (!isTooSoon) due.push({ mail: balanceMail(figures, lowest), memberId: null })
}

const DAYS_OF_ESTIMATE = 7

function balanceMail({ accountId, accountName, balance, days }: Figures, { name, threshold }: Threshold): AlertMail {
  const own = { accountId, accountName }
  if (name === EMPTY.name) return { kind: 'balance_empty', facts: own }
  const perDay = days.slice(1, DAYS_OF_ESTIMATE + 1).reduce((sum, cost) => sum + cost, 0) / DAYS_OF_ESTIMATE
  const daysLeft = perDay > 0 ? Math.floor(balance / perDay) : -1
  return { kind: 'balance_low', facts: { ...own, balance: usdText(balance), threshold: usdText(threshold), daysLeft } }
}

/** One alert for each level and window. If several levels are reached at once, only the highest is reported. */
function lookAtBudget(
  { accountId, accountName }: Figures,
  { scope, scopeId, scopeName, memberId, window, spent, limit }: BudgetFigure,
  before: ReadonlyMap<string, AlertState>,
  nowMs: number,
  { due, states }: Crossings,
): void {
  if (limit <= 0) return
  const name = `budget:${scope}:${scopeId}:${window}`
  const mark = windowNumbers(nowMs)[window]
  const state = before.get(name)
  const told = state?.mark === mark ? state.level : 0
  const level = BUDGET_LEVELS.findLast((percent) => spent * 100 >= limit * percent) ?? 0
  if (level === told) return
  // If the level fell, the limit was raised: higher levels can be reported again.
  states.set(name, { mark, level, isPending: false, firedAtMs: nowMs })
  if (level < told) return
  const endMs = windowEnd(window, nowMs)
  const facts = {
    ...{
      accountId,
      accountName,
      scope,
      scopeName,
      window,
      percent: level,
      spent: usdText(spent),
      limit: usdText(limit),
    },
    endsAt: endMs === undefined ? '' : new Date(endMs).toISOString(),
  }
  due.push({ mail: { kind: 'budget_reached', facts }, memberId })
}

function lookAtDay(
  { accountId, accountName, days }: Figures,
  before: ReadonlyMap<string, AlertState>,
  nowMs: number,
  { due, states }: Crossings,
): void {
  const [today = 0, ...earlier] = days
  const median = medianOf(earlier)
  const mark = windowNumbers(nowMs).day
  if (median === 0 || today < UNUSUAL_LEAST_NANO || today <= median * UNUSUAL_RATIO) return
  if (before.get('spend')?.mark === mark) return
  states.set('spend', { mark, level: 0, isPending: false, firedAtMs: nowMs })
  const facts = { accountId, accountName, spent: usdText(today), median: usdText(median) }
  due.push({ mail: { kind: 'spend_unusual', facts }, memberId: null })
}

/** The median of `values`. If their number is even, the lower of the two middle values. */
function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] ?? 0
}

/** Nano-USD as dollars and cents, rounded down. */
function usdText(nano: number): string {
  return `${(Math.floor(nano / (NANO_PER_USD / 100)) / 100).toFixed(2)} USD`
}
