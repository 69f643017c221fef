/** Queries and changes of the budgets page. */
import { useQuery } from '@tanstack/react-query'
import { allPages, askAgain } from '@/dashboard/query'
import type { BudgetBody } from '@/people/budgets/bodies'
import type { BUDGET_FIELDS } from '@/people/budgets/fields'
import { perform, performVersioned } from '@/people/client'

export type { BudgetBody } from '@/people/budgets/bodies'

const BUDGETS = ['budgets'] as const

export type LimitFields = Record<(typeof BUDGET_FIELDS)[BudgetWindow]['wire'], string>
export type BudgetWindow = BudgetBody['windows'][number]['window']

/** All budgets in the account that the person may see, including scopes without limits. */
export function useBudgets() {
  return useQuery({
    queryKey: BUDGETS,
    queryFn: () => allPages((query) => perform('GET /budgets', query)),
  })
}

/** One budget with all windows and amounts spent. */
export function useBudget({ scope, scopeId }: BudgetBody) {
  return useQuery({
    queryKey: [...BUDGETS, scope, scopeId],
    queryFn: () => performVersioned('GET /budgets/:scope/:scopeId', { scope, scopeId }),
  })
}

/** Changes limits. Limits for new members can also be given to present members without a budget (`givenToMembers`). */
export async function setBudget(
  { scope, scopeId }: BudgetBody,
  limits: Partial<LimitFields>,
  givenToMembers: boolean,
  ifMatch: string | undefined,
): Promise<void> {
  const entries = Object.entries(limits).map(([field, text]) => [field, text.trim() === '' ? null : text.trim()])
  const body = { ...Object.fromEntries(entries), ...(givenToMembers && { givenToMembers }) }
  await performVersioned('PUT /budgets/:scope/:scopeId', { scope, scopeId, ...body }, ifMatch)
  await budgetsChanged()
}

/** Adds to the limit of the current window. */
export async function grant({ scope, scopeId }: BudgetBody, window: BudgetWindow, usd: string): Promise<void> {
  await perform('POST /budgets/:scope/:scopeId/grant', { scope, scopeId, window, usd: usd.trim() })
  await budgetsChanged()
}

/** Reloads the budgets after a change. */
export function budgetsChanged(): Promise<void> {
  return askAgain({ queryKey: BUDGETS })
}
