/** What the usage pages ask the server, and the types of what it answers. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type AccountApi, accountApi } from '@/dashboard/account'
import { answer, type DataOf } from '@/dashboard/client'
import { usePages } from '@/dashboard/query'
import { toQuery, type UsageFilters } from './filters'

export type UsageItem = DataOf<AccountApi['usage']['get']>['items'][number]
/** With what it tells: what is shown stays until the answer to another question is there. */
export type UsageSeries = DataOf<AccountApi['usage']['series']['get']> & { group: SeriesGroup; filters: UsageFilters }
export type UsageRecord = DataOf<ReturnType<AccountApi['usage']['requests']>['get']>

/** Everything about usage; invalidate it when new requests came in. */
export const USAGE_KEY = ['usage'] as const

/** The charged requests of a filter, page after page. */
export function useRecords(filters: UsageFilters) {
  return usePages([...USAGE_KEY, 'records', filters], (page) =>
    answer(accountApi().usage.get({ query: { ...toQuery(filters), ...page } })),
  )
}

/** Their sums. */
export function useTotals(filters: UsageFilters) {
  return useQuery({
    queryKey: [...USAGE_KEY, 'totals', filters],
    queryFn: () => answer(accountApi().usage.totals.get({ query: toQuery(filters) })),
    placeholderData: keepPreviousData,
  })
}

/** By what the chart can be split. */
export type SeriesGroup = 'model' | 'key' | 'status' | 'member' | 'tag' | 'app'

/** Their chart. */
export function useSeries(filters: UsageFilters, group: SeriesGroup) {
  return useQuery({
    queryKey: [...USAGE_KEY, 'series', filters, group],
    queryFn: async (): Promise<UsageSeries> => {
      const series = await answer(accountApi().usage.series.get({ query: { ...toQuery(filters), group } }))
      return { ...series, group, filters }
    },
    placeholderData: keepPreviousData,
  })
}

/** What they can be filtered by. */
export function useChoices() {
  return useQuery({
    queryKey: ['usage-choices'],
    queryFn: () => answer(accountApi().usage.choices.get()),
    staleTime: 60_000,
  })
}

/** The usage record of one request. */
export function useUsageRecord(requestId: string) {
  return useQuery({
    queryKey: ['usage-record', requestId],
    queryFn: () =>
      answer(
        accountApi()
          .usage.requests({ requestId: encodeURIComponent(requestId) })
          .get(),
      ),
  })
}
