/** What the pages of margins and of reconciliation ask the server. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { answer, api } from '@/dashboard/client'

type DataOf<Call extends (...args: never[]) => Promise<{ data: unknown }>> = NonNullable<
  Awaited<ReturnType<Call>>['data']
>

export type Margins = DataOf<typeof api.admin.margins.get>
export type Margin = Margins['total']
type GapPage = DataOf<(typeof api.admin)['count-gaps']['get']>
export type GapRecord = GapPage['items'][number]
export type Gap = NonNullable<NonNullable<Parameters<(typeof api.admin)['count-gaps']['get']>[0]>['query']>['gap']

/** The last `days` days, up to what has reached the history. */
export function useMargins(days: number) {
  return useQuery({
    queryKey: ['admin', 'margins', days],
    queryFn: () => answer(api.admin.margins.get({ query: { days } })),
    placeholderData: keepPreviousData,
  })
}

export type GapFilters = { gap: string; provider: string; accountId: string }

/** Records for which every filter that is not empty holds, the newest first. */
export function useCountGaps({ gap, provider, accountId }: GapFilters) {
  const query = {
    ...(gap !== '' && { gap: gap as NonNullable<Gap> }),
    ...(provider !== '' && { provider }),
    ...(accountId !== '' && { accountId }),
  }
  return useInfiniteQuery({
    queryKey: ['admin', 'count-gaps', query],
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam }
      return answer(api.admin['count-gaps'].get({ query: { ...query, ...cursor } }))
    },
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  })
}
