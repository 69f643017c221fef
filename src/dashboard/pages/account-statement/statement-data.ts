/** What the pages of account statements ask the server: of the viewer's account, or of one that an administrator looks at. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { type AccountApi, accountApi, accountPath } from '@/dashboard/account'
import { answer, api } from '@/dashboard/client'

type DataOf<Call extends (...args: never[]) => Promise<{ data: unknown }>> = NonNullable<
  Awaited<ReturnType<Call>>['data']
>

export type Statement = DataOf<AccountApi['statement']['get']>
export type Movement = Statement['items'][number]

/** Days in UTC, yyyy-mm-dd; `to` is left out where the period reaches to now. */
export type Period = { from: string; to?: string }

/** Page after page, oldest first; `accountId` is undefined for the viewer's own. */
export function useStatement(period: Period, accountId: string | undefined) {
  return useInfiniteQuery({
    queryKey: ['statement', accountId ?? 'own', period],
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const page = { query: { ...period, ...(pageParam !== '' && { cursor: pageParam }) } }
      const reply =
        accountId === undefined
          ? accountApi().statement.get(page)
          : api.admin.accounts({ accountId }).statement.get(page)
      return answer(reply)
    },
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  })
}

/** Where the period's file is. */
export function filePath(period: Period, accountId: string | undefined): string {
  const file = `statement/csv?${new URLSearchParams(period)}`
  return accountId === undefined
    ? accountPath(file)
    : `/dashboard/api/admin/accounts/${encodeURIComponent(accountId)}/${file}`
}
