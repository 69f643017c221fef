/** Which alerts are due, by what an account has and has spent, and the alerts before. Pure. */
import type { SingleAlertKind } from '@/accounts/mails/alert-templates'
import type { NewMail } from '@/accounts/mails/templates'
import { type BudgetScope, type BudgetWindow, windowEnd, windowNumbers } from '@/ledger/budgets'
import { NANO_PER_USD } from '@/lib/money'

/** An alert is armed again above its threshold times this. */
const REARM_RATIO = 1.1
/** Of the balance at most one mail in this time. */
export const PAUSE_MS = 6 * 3_600_000
/** Per cent of a budget. */
const BUDGET_LEVELS = [50, 80, 100] as const
/** A day's spend is unusual above so many times the median, and worth a mail above this. */
const UNUSUAL_RATIO = 3
const UNUSUAL_LEAST_NANO = NANO_PER_USD

/** A budget with what was spent of it in the window of now. */
export type BudgetFigure = {
  scope: BudgetScope
  scopeId: string
  /** The member or the key; '' for the account. */
  scopeName: string
  /** Whom it binds beside those who look after the account; null if that is nobody. */
  memberId: string | null
  window: BudgetWindow
  spent: number
  /** What was granted for this window included. */
  limit: number
}

type Threshold = { name: string; threshold: number }

/** The balance with which nothing can be paid: told to everybody. */
export const EMPTY: Threshold = { name: 'balance:empty', threshold: NANO_PER_USD / 100 }

/** An account as the history has it; amounts in nano-USD. */
export type Figures = {
  accountId: string
  accountName: string
  balance: number
  /** Ever. */
  spent: number
  /** The thresholds of the balance by name, the highest first. */
  thresholds: readonly Threshold[]
  budgets: readonly BudgetFigure[]
  /** What was spent on each of the last 14 days and today, the latest first. */
  days: readonly number[]
}

/** The last alert of one kind. */
export type AlertState = { mark: number; level: number; isPending: boolean; firedAtMs: number }

/** The mail of a single alert. */
type AlertMail = Extract<NewMail, { kind: SingleAlertKind }>

export type DueAlert = {
  mail: AlertMail
  /** A further recipient besides those who look after the account. */
  memberId: string | null
}

/** The alerts to send, and what to remember. */
type Crossings = { due: DueAlert[]; states: Map<string, AlertState> }

/** `last` is what the account had and had spent when it was looked at last, 0 before the first time. */
export function findCrossings(
  figures: Figures,
  last: { balance: number; spent: number },
  before: ReadonlyMap<string, AlertState>,
  nowMs: number,
): Crossings {
  const crossings: Crossings = { due: [], states: new Map() }
  // The most that the balance can have been since then: what was credited came before what was spent.
  const peak = Math.max(last.balance, figures.balance + figures.spent - last.spent)
  lookAtBalance(figures, peak, before, nowMs, crossings)
  for (const budget of figures.budgets) lookAtBudget(figures, budget, before, nowMs, crossings)
  lookAtDay(figures, before, nowMs, crossings)
  return crossings
}

/** The mark of a threshold that was not told, or is armed again. */
const ARMED = 0

/** Of several thresholds that are crossed at once the lowest is reported. */
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

/** Once for each level and window; of several levels that are reached at once the highest is reported. */
function lookAtBudget(
  { accountId, accountName }: Figures,
  { scope, scopeId, scopeName, memberId, window, spent, limit }: BudgetFigure,
  before: ReadonlyMap<string, AlertState>,
  nowMs: number,
  { due, states }: Crossings,
): void {
  // A limit of 0 blocks from the start.
  if (limit <= 0) return
  const name = `budget:${scope}:${scopeId}:${window}`
  const mark = windowNumbers(nowMs)[window]
  const state = before.get(name)
  const told = state?.mark === mark ? state.level : 0
  const level = BUDGET_LEVELS.findLast((percent) => spent * 100 >= limit * percent) ?? 0
  if (level === told) return
  // Lower than before: the limit was raised, and what lies above is reported again.
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

/** Once a day. */
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

/** The lower one of the two in the middle. */
function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] ?? 0
}

/** Nano-USD in dollars and cents, cut off. */
function usdText(nano: number): string {
  return `${(Math.floor(nano / (NANO_PER_USD / 100)) / 100).toFixed(2)} USD`
}
