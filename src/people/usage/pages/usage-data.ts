/** Queries of the usage pages, and the types of their results. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { usePages } from '@/dashboard/query'
import { perform, type ResultOf } from '@/people/client'
import { toQuery, type UsageFilters } from './filters'

export type UsageItem = ResultOf<'GET /usage'>['items'][number]
/** Includes the group and the filters of its query, since the old chart stays until the new one has loaded. */
export type UsageSeries = ResultOf<'GET /usage/series'> & { group: SeriesGroup; filters: UsageFilters }
export type UsageRecord = ResultOf<'GET /usage/requests/:requestId'>

/** Query key of all usage data; invalidate it when new requests arrive. */
export const USAGE_KEY = ['usage'] as const

/** Pages of the charged requests that match the filters. */
export function useRecords(filters: UsageFilters) {
  return usePages([...USAGE_KEY, 'records', filters], (page) => perform('GET /usage', { ...toQuery(filters), ...page }))
}

/** Totals of the matching requests. */
export function useTotals(filters: UsageFilters) {
  return useQuery({
    queryKey: [...USAGE_KEY, 'totals', filters],
    queryFn: () => perform('GET /usage/totals', toQuery(filters)),
    placeholderData: keepPreviousData,
  })
}

export type SeriesGroup = 'model' | 'key' | 'status' | 'member' | 'tag' | 'app'

/** The chart of the matching requests. */
export function useSeries(filters: UsageFilters, group: SeriesGroup) {
  return useQuery({
    queryKey: [...USAGE_KEY, 'series', filters, group],
    queryFn: async (): Promise<UsageSeries> => {
      const series = await perform('GET /usage/series', { ...toQuery(filters), group })
      return { ...series, group, filters }
    },
    placeholderData: keepPreviousData,
  })
}

/** Values to choose from in the filters. */
export function useChoices() {
  return useQuery({
    queryKey: ['usage-choices'],
    queryFn: () => perform('GET /usage/choices', {}),
    staleTime: 60_000,
  })
}

/** The usage record of one request. */
export function useUsageRecord(requestId: string) {
  return useQuery({
    queryKey: ['usage-record', requestId],
    queryFn: () => perform('GET /usage/requests/:requestId', { requestId }),
  })
}
