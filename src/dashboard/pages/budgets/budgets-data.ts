/** Budgets as the page asks for them and changes them. */
import { useQuery } from '@tanstack/react-query'
import type { BudgetBody } from '@/console/http/budgets/budget-bodies'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import { allPages, askAgain } from '@/dashboard/query'

export type { BudgetBody } from '@/console/http/budgets/budget-bodies'

const BUDGETS = ['budgets'] as const
const FIELDS = { day: 'dayUsd', week: 'weekUsd', month: 'monthUsd', total: 'totalUsd' } as const

/** The fields of the form: the text of each limit, empty for none. */
export type LimitFields = Record<(typeof FIELDS)[BudgetWindow], string>
export type BudgetWindow = BudgetBody['windows'][number]['window']

/** The windows in words. */
export const WINDOW_WORDS: Record<BudgetWindow, string> = { day: 'Day', week: 'Week', month: 'Month', total: 'Total' }

/** Of everything that one sees in the account, with a budget or without. */
export function useBudgets() {
  return useQuery({
    queryKey: BUDGETS,
    queryFn: () => allPages((query) => answer(accountApi().budgets.get({ query }))),
  })
}

/** One with all windows, and what was spent in them. */
export function useBudget({ scope, scopeId }: BudgetBody) {
  return useQuery({
    queryKey: [...BUDGETS, scope, scopeId],
    queryFn: () => answer(accountApi().budgets({ scope })({ scopeId }).get()),
  })
}

/** The form's field of a window. */
export function fieldOf(window: BudgetWindow): keyof LimitFields {
  return FIELDS[window]
}

/** Sets what differs from before; of new members, `givenToMembers` gives it to those who have none as well. */
export async function setBudget(
  { scope, scopeId }: BudgetBody,
  limits: Partial<LimitFields>,
  givenToMembers: boolean,
): Promise<void> {
  const entries = Object.entries(limits).map(([field, text]) => [field, text.trim() === '' ? null : text.trim()])
  const body = { ...Object.fromEntries(entries), ...(givenToMembers && { givenToMembers }) }
  await answer(accountApi().budgets({ scope })({ scopeId }).put(body))
  await budgetsChanged()
}

/** Adds to the limit of the window that is running. */
export async function grant({ scope, scopeId }: BudgetBody, window: BudgetWindow, usd: string): Promise<void> {
  await answer(accountApi().budgets({ scope })({ scopeId }).grant.post({ window, usd: usd.trim() }))
  await budgetsChanged()
}

/** Shows what has changed. */
export function budgetsChanged(): Promise<void> {
  return askAgain({ queryKey: BUDGETS })
}
