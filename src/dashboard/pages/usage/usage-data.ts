/** Queries of the usage pages, and the types of their results. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type AccountApi, accountApi } from '@/dashboard/account'
import { answer, type DataOf } from '@/dashboard/client'
import { usePages } from '@/dashboard/query'
import { toQuery, type UsageFilters } from './filters'

export type UsageItem = DataOf<AccountApi['usage']['get']>['items'][number]
/** Includes the group and filters that it was queried with, since the old chart stays until the new one has loaded. */
export type UsageSeries = DataOf<AccountApi['usage']['series']['get']> & { group: SeriesGroup; filters: UsageFilters }
export type UsageRecord = DataOf<ReturnType<AccountApi['usage']['requests']>['get']>

/** Query key of all usage data; invalidate it when new requests arrive. */
export const USAGE_KEY = ['usage'] as const

/** Pages of the charged requests that match the filters. */
export function useRecords(filters: UsageFilters) {
  return usePages([...USAGE_KEY, 'records', filters], (page) =>
    answer(accountApi().usage.get({ query: { ...toQuery(filters), ...page } })),
  )
}

/** Totals of the matching requests. */
export function useTotals(filters: UsageFilters) {
  return useQuery({
    queryKey: [...USAGE_KEY, 'totals', filters],
    queryFn: () => answer(accountApi().usage.totals.get({ query: toQuery(filters) })),
    placeholderData: keepPreviousData,
  })
}

export type SeriesGroup = 'model' | 'key' | 'status' | 'member' | 'tag' | 'app'

/** The chart of the matching requests. */
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

/** Values to choose from in the filters. */
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
