/** After signing in: the page to continue with, and the token of a mailed link. */
import { useCallback, useLayoutEffect, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { INVITATION_PATH, rememberedInvitation } from '@/dashboard/invitation'
import { viewerChanged } from '@/dashboard/session'

/** A path of this site. `//host` and `/\host` would lead to another site. */
const OWN_PATH = /^\/(?![/\\])/

/** Where to go after signing in: the query's `next` if it is a path of this site, else a pending invitation or the overview. */
export function useNext(): string {
  const [search] = useSearchParams()
  const next = search.get('next') ?? (rememberedInvitation() === '' ? '/' : INVITATION_PATH)
  return OWN_PATH.test(next) ? next : '/'
}

/** Continues to the page `next` as the person who has just signed in. */
export function useArrival(): () => Promise<void> {
  const next = useNext()
  const [, navigate] = useLocation()
  return useCallback(async () => {
    await viewerChanged()
    navigate(next, { replace: true })
  }, [next, navigate])
}

/**
 * The token after the # of a mailed link; '' if there is none. It is removed from the address bar and history once the page is mounted. Not
 * during rendering, since React may render again before mounting, and would then miss the token.
 */
export function useMailedToken(): string {
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '')
  useLayoutEffect(() => {
    if (token !== '') window.history.replaceState(null, '', window.location.pathname + window.location.search)
  }, [token])
  return token
}
