/** Queries of the failed-requests pages: for the viewer's account, or for one that an administrator views. */
import { useQuery } from '@tanstack/react-query'
import { filled, usePages } from '@/dashboard/query'
import { administer, perform, type ResultOf } from '@/people/client'

type FailurePage = ResultOf<'GET /failures'>
export type FailedRequest = FailurePage['items'][number]
export type FailureSum = FailurePage['sums'][number]

/** Texts as in the URL; '' = no filter. `status` and `code` are set together. */
type FailureFilters = { key: string; status: string; code: string }

/** Pages of failed requests; `accountId` is undefined for the viewer's own account. */
export function useFailures(filters: FailureFilters, accountId: string | undefined) {
  const { status, ...words } = filled(filters)
  const query = { ...words, ...(status !== undefined && { status: Number(status) }) }
  return usePages(['failures', accountId ?? 'own', query], (page) => {
    const asked = { ...query, ...page }
    if (accountId === undefined) return perform('GET /failures', asked)
    return administer('GET /accounts/:accountId/failures', { accountId, ...asked })
  })
}

/** One of the viewer's own failures, loaded only if `isWanted`. */
export function useFailure(requestId: string, isWanted: boolean) {
  return useQuery({
    queryKey: ['failure', requestId],
    queryFn: () => perform('GET /failures/:requestId', { requestId }),
    enabled: isWanted,
  })
}
