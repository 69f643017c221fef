/** Queries of the margins and reconciliation pages. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answer, api, type DataOf } from '@/dashboard/client'
import { filled, usePages } from '@/dashboard/query'

export type Margins = DataOf<typeof api.admin.margins.get>
export type Margin = Margins['total']
type GapPage = DataOf<(typeof api.admin)['count-gaps']['get']>
export type GapRecord = GapPage['items'][number]
export type Gap = NonNullable<NonNullable<Parameters<(typeof api.admin)['count-gaps']['get']>[0]>['query']>['gap']

/** The last `days` days, as far as they are in Postgres. */
export function useMargins(days: number) {
  return useQuery({
    queryKey: ['admin', 'margins', days],
    queryFn: () => answer(api.admin.margins.get({ query: { days } })),
    placeholderData: keepPreviousData,
  })
}

export type GapFilters = { gap: string; provider: string; accountId: string }

/** Records that match all filters that are not empty, newest first. */
export function useCountGaps(filters: GapFilters) {
  const query = filled(filters) as Partial<GapFilters & { gap: NonNullable<Gap> }>
  return usePages(['admin', 'count-gaps', query], (page) =>
    answer(api.admin['count-gaps'].get({ query: { ...query, ...page } })),
  )
}
