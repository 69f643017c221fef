/** Queries of the margins and reconciliation pages. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { filled, usePages } from '@/dashboard/query'
import { type AdminInputOf, type AdminResultOf, administer } from '@/people/client'

export type Margins = AdminResultOf<'GET /margins'>
export type Margin = Margins['total']
export type GapRecord = AdminResultOf<'GET /count-gaps'>['items'][number]
export type Gap = AdminInputOf<'GET /count-gaps'>['gap']

/** Margins of the last `days` days. Usage that hasn't reached Postgres is missing. */
export function useMargins(days: number) {
  return useQuery({
    queryKey: ['admin', 'margins', days],
    queryFn: () => administer('GET /margins', { days }),
    placeholderData: keepPreviousData,
  })
}

export type GapFilters = { gap: string; provider: string; accountId: string }

/** Records that match all filters that are not empty, newest first. */
export function useCountGaps(filters: GapFilters) {
  const query = filled(filters) as Partial<GapFilters & { gap: NonNullable<Gap> }>
  return usePages(['admin', 'count-gaps', query], (page) => administer('GET /count-gaps', { ...query, ...page }))
}
