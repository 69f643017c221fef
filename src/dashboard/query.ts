/** How the pages ask the server: cached, repeated where it may help, and told what failed. */
import { QueryClient } from '@tanstack/react-query'
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
