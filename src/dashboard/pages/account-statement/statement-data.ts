/** Queries of the statement pages: for the viewer's account, or for one that an administrator views. */
import { type AccountApi, accountApi, accountPath } from '@/dashboard/account'
import { answer, api, type DataOf } from '@/dashboard/client'
import { usePages } from '@/dashboard/query'

export type Statement = DataOf<AccountApi['statement']['get']>
export type Movement = Statement['items'][number]

/** Days in UTC, yyyy-mm-dd; without `to` the period ends now. */
export type Period = { from: string; to?: string }

/** Pages of movements, oldest first; `accountId` is undefined for the viewer's own. */
export function useStatement(period: Period, accountId: string | undefined) {
  return usePages(['statement', accountId ?? 'own', period], (page) => {
    const asked = { query: { ...period, ...page } }
    const own = accountId === undefined
    return answer(own ? accountApi().statement.get(asked) : api.admin.accounts({ accountId }).statement.get(asked))
  })
}

/** The URL of the period's file. */
export function filePath(period: Period, accountId: string | undefined): string {
  const file = `statement/csv?${new URLSearchParams(period)}`
  return accountId === undefined
    ? accountPath(file)
    : `/dashboard/api/admin/accounts/${encodeURIComponent(accountId)}/${file}`
}
