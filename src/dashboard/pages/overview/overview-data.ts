/** What the overview page asks the server, and under which keys the answers are kept. */
import { useQuery } from '@tanstack/react-query'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'

export const OVERVIEW_KEY = ['overview'] as const
const RECENT_COUNT = 8

/** The account at a glance. */
export function useOverview() {
  return useQuery({ queryKey: [...OVERVIEW_KEY, 'figures'], queryFn: () => answer(accountApi().overview.get()) })
}

export type Overview = NonNullable<ReturnType<typeof useOverview>['data']>

/** The latest charged requests. */
export function useRecentRequests() {
  return useQuery({
    queryKey: [...OVERVIEW_KEY, 'recent'],
    queryFn: () => answer(accountApi().usage.get({ query: { limit: RECENT_COUNT } })),
  })
}
