/** What the pages of account statements ask the server: of the viewer's account, or of one that an administrator looks at. */
import { type AccountApi, accountApi, accountPath } from '@/dashboard/account'
import { answer, api, type DataOf } from '@/dashboard/client'
import { usePages } from '@/dashboard/query'

export type Statement = DataOf<AccountApi['statement']['get']>
export type Movement = Statement['items'][number]

/** Days in UTC, yyyy-mm-dd; `to` is left out if the period reaches to now. */
export type Period = { from: string; to?: string }

/** Page after page, oldest first; `accountId` is undefined for the viewer's own. */
export function useStatement(period: Period, accountId: string | undefined) {
  return usePages(['statement', accountId ?? 'own', period], (page) => {
    const asked = { query: { ...period, ...page } }
    const own = accountId === undefined
    return answer(own ? accountApi().statement.get(asked) : api.admin.accounts({ accountId }).statement.get(asked))
  })
}

/** Where the period's file is. */
export function filePath(period: Period, accountId: string | undefined): string {
  const file = `statement/csv?${new URLSearchParams(period)}`
  return accountId === undefined
    ? accountPath(file)
    : `/dashboard/api/admin/accounts/${encodeURIComponent(accountId)}/${file}`
}
