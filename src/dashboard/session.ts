/** Who is signed in, as the pages of the dashboard know it. */
import { useQuery } from '@tanstack/react-query'
import { ApiError, answer, api } from './client'
import { queryClient } from './query'

/** The key under which the signed-in person is cached. */
export const VIEWER_KEY = ['viewer'] as const

/** The signed-in person; `null` where none is. */
export function useViewer() {
  return useQuery({
    queryKey: VIEWER_KEY,
    staleTime: 60_000,
    queryFn: () =>
      answer(api.session.me.get()).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 401) return null
        throw error
      }),
  })
}

export type Viewer = NonNullable<ReturnType<typeof useViewer>['data']>

/** After signing in or out: forgets everything that was shown to the person before. */
export async function viewerChanged(): Promise<void> {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== VIEWER_KEY[0] })
  // Emptied rather than removed, so that its observers are notified.
  await queryClient.resetQueries({ queryKey: VIEWER_KEY })
}

/** Ends the session on the server, then forgets it here. */
export async function signOut(): Promise<void> {
  await answer(api.session['sign-out'].post({}))
  await viewerChanged()
}
