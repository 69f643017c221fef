/** How the pages ask the server: cached, repeated where it may help, and told what failed. */
import { keepPreviousData, QueryClient, type QueryFilters, useInfiniteQuery } from '@tanstack/react-query'
import { ApiError } from './client'

/** Answers are shown again at once for this long; live events make them stale sooner. */
const FRESH_MS = 10_000
const MAX_RETRIES = 2
const CLIENT_ERROR = { from: 400, to: 499 } as const

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => !isRefusal(error) && count < MAX_RETRIES,
    },
    mutations: { retry: false },
  },
})

/** Asking again can't help where the server understood and said no. */
function isRefusal(error: Error): boolean {
  return error instanceof ApiError && error.status >= CLIENT_ERROR.from && error.status <= CLIENT_ERROR.to
}

/**
 * After something has changed: what is shown of it is asked again. An answer under way may be from before the change, so that the next
 * question waits for it; to cut it off instead would show nothing for as long as changes are faster than answers.
 */
export async function askAgain(filters: QueryFilters = {}): Promise<void> {
  const queries = queryClient.getQueryCache().findAll(filters)
  await Promise.all(
    queries.map(async ({ queryKey, state, promise }) => {
      if (state.fetchStatus === 'fetching') await promise?.catch(() => undefined)
      await queryClient.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
    }),
  )
}

/**
 * A list that comes page by page. `ask` is given the part of its query that leads to a page, which is empty for the first. What was
 * shown stays until the answer to another question is there.
 */
export function usePages<Page extends { nextCursor: string | null }>(
  queryKey: readonly unknown[],
  ask: (page: { cursor?: string }) => Promise<Page>,
) {
  return useInfiniteQuery({
    queryKey,
    initialPageParam: '',
    queryFn: ({ pageParam }) => ask(pageParam === '' ? {} : { cursor: pageParam }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  })
}

/** A list that is short enough to be shown whole, from all of its pages. What the first says beside its items stays. */
export async function allPages<Page extends { items: unknown[]; nextCursor: string | null }>(
  ask: (page: { cursor?: string }) => Promise<Page>,
): Promise<Page> {
  const first = await ask({})
  const items = [...first.items]
  let { nextCursor: cursor } = first
  while (cursor !== null) {
    const next = await ask({ cursor })
    items.push(...next.items)
    cursor = next.nextCursor
  }
  return { ...first, items }
}

/** The filters that are not empty. */
export function filled<Filters extends Record<string, string>>(filters: Filters): Partial<Filters> {
  return Object.fromEntries(Object.entries(filters).filter(([, text]) => text !== '')) as Partial<Filters>
}
