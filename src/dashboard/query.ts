/** How pages query the server: with a cache, with retries if useful, and with error messages. */
import { keepPreviousData, QueryClient, type QueryFilters, useInfiniteQuery } from '@tanstack/react-query'
import { ApiError } from './client'

/** Age in milliseconds up to which a cached result is used. After a live event, it is reloaded earlier. */
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

/** After a refusal, a retry can't help. */
function isRefusal(error: Error): boolean {
  return error instanceof ApiError && error.status >= CLIENT_ERROR.from && error.status <= CLIENT_ERROR.to
}

/**
 * Reloads queries after a change. It first waits for running requests, whose responses may be older; cancelling them could leave a page
 * empty.
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

/** Interval in milliseconds at which a page reloads figures that still change. */
export const NEWS_MS = 5_000

/**
 * A paginated list. `ask` gets the query parameters of the page, empty for the first. The old list stays until the new one has loaded.
 * While `isChanging` is true for one of its pages, the list is reloaded every few seconds.
 */
export function usePages<Page extends { nextCursor: string | null }>(
  queryKey: readonly unknown[],
  ask: (page: { cursor?: string }) => Promise<Page>,
  isChanging: (page: Page) => boolean = () => false,
) {
  return useInfiniteQuery({
    queryKey,
    initialPageParam: '',
    queryFn: ({ pageParam }) => ask(pageParam === '' ? {} : { cursor: pageParam }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    refetchInterval: ({ state }) => (state.data?.pages.some(isChanging) ? NEWS_MS : false),
    placeholderData: keepPreviousData,
  })
}

/** All pages of a short list, joined. The other fields come from the first page. */
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
