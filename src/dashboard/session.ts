/** The signed-in person, for the pages. */
import { useQuery } from '@tanstack/react-query'
import { type OwnResultOf, performOwn } from '@/people/client'
import { ApiError } from './client'
import { askAgain, queryClient } from './query'

export const VIEWER_KEY = ['viewer'] as const

export type Viewer = OwnResultOf<'GET /session/me'> & {
  /** Set if the session ended while the pages were in use: they stay open behind a sign-in dialog. */
  hasEnded?: true
}

/** The signed-in person. `null`: nobody is signed in. */
export function useViewer() {
  return useQuery({ queryKey: VIEWER_KEY, staleTime: 60_000, queryFn: askViewer })
}

async function askViewer(): Promise<Viewer | null> {
  try {
    return await performOwn('GET /session/me', {})
  } catch (error) {
    if (!isSignedOut(error)) throw error
    const former = queryClient.getQueryData<Viewer | null>(VIEWER_KEY)
    return former ? { ...former, hasEnded: true } : null
  }
}

function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'not_signed_in'
}

/** Runs `act`. If the session has ended, waits until the person has signed in again, then repeats it. */
export async function withSession<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const viewer = queryClient.getQueryData<Viewer | null>(VIEWER_KEY)
    if (!isSignedOut(error) || !viewer) throw error
    await askAgain({ queryKey: VIEWER_KEY })
    await signedInAgain(viewer.userId, error)
    return await act()
  }
}

/** Resolves once the person `userId` has signed in again. Rejects with `refusal` if they sign out, or another person signs in. */
function signedInAgain(userId: string, refusal: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    function look(): void {
      const viewer = queryClient.getQueryData<Viewer | null>(VIEWER_KEY)
      if (viewer?.hasEnded) return
      unsubscribe()
      if (viewer?.userId === userId) resolve()
      else reject(refusal)
    }
    const unsubscribe = queryClient.getQueryCache().subscribe(({ query }) => {
      if (query.queryKey[0] === VIEWER_KEY[0]) look()
    })
    look()
  })
}

/** Clears all cached data of the previous person after signing in or out. */
export async function viewerChanged(): Promise<void> {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== VIEWER_KEY[0] })
  // Reset instead of removed: only a reset notifies the query's observers.
  await queryClient.resetQueries({ queryKey: VIEWER_KEY })
}

/** Ends the session on the server, then clears its data here. */
export async function signOut(): Promise<void> {
  await performOwn('POST /session/sign-out', {})
  await viewerChanged()
}
