/** Queries of the statement pages: for the viewer's account, or for one that an administrator views. */
import { usePages } from '@/dashboard/query'
import { accountPath } from '@/dashboard/shown-account'
import { administer, perform, type ResultOf } from '@/people/client'

export type Statement = ResultOf<'GET /statement'>
export type Movement = Statement['items'][number]

/** Days in UTC, yyyy-mm-dd; without `to` the period ends now. */
export type Period = { from: string; to?: string }

/** Pages of movements, oldest first; `accountId` is undefined for the viewer's own account. */
export function useStatement(period: Period, accountId: string | undefined) {
  return usePages(['statement', accountId ?? 'own', period], (page) => {
    const asked = { ...period, ...page }
    if (accountId === undefined) return perform('GET /statement', asked)
    return administer('GET /accounts/:accountId/statement', { accountId, ...asked })
  })
}

/** The URL of the period's file. */
export function filePath(period: Period, accountId: string | undefined): string {
  const file = `statement/csv?${new URLSearchParams(period)}`
  return accountId === undefined
    ? accountPath(file)
    : `/dashboard/api/admin/accounts/${encodeURIComponent(accountId)}/${file}`
}
