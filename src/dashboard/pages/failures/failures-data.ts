/** What the pages of failed requests ask the server: of the viewer's account, or of one that an administrator looks at. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type AccountApi, accountApi } from '@/dashboard/account'
import { answer, api } from '@/dashboard/client'

type DataOf<Call extends (...args: never[]) => Promise<{ data: unknown }>> = NonNullable<
  Awaited<ReturnType<Call>>['data']
>

type FailurePage = DataOf<AccountApi['failures']['get']>
export type FailedRequest = FailurePage['items'][number]
export type FailureSum = FailurePage['sums'][number]

/** Texts as in the address; '' = not filtered. `status` and `code` go together. */
type FailureFilters = { key: string; status: string; code: string }

/** Page after page; `accountId` is undefined for the viewer's own. */
export function useFailures(filters: FailureFilters, accountId: string | undefined) {
  const { key, status, code } = filters
  const query = {
    ...(key !== '' && { key }),
    ...(status !== '' && { status: Number(status) }),
    ...(code !== '' && { code }),
  }
  return useInfiniteQuery({
    queryKey: ['failures', accountId ?? 'own', query],
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const page = { query: { ...query, ...(pageParam !== '' && { cursor: pageParam }) } }
      const reply =
        accountId === undefined ? accountApi().failures.get(page) : api.admin.accounts({ accountId }).failures.get(page)
      return answer(reply)
    },
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  })
}

/** One of the viewer's own; asked for only where `isWanted`. */
export function useFailure(requestId: string, isWanted: boolean) {
  return useQuery({
    queryKey: ['failure', requestId],
    queryFn: () =>
      answer(
        accountApi()
          .failures({ requestId: encodeURIComponent(requestId) })
          .get(),
      ),
    enabled: isWanted,
  })
}
