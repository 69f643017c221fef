/** Arriving: where people wanted to go before they had to sign in, and the token of a link from a mail. */
import { useCallback, useLayoutEffect, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { INVITATION_PATH, rememberedInvitation } from '@/dashboard/invitation'
import { viewerChanged } from '@/dashboard/session'

/** A path of ours: `//host` and `/\host` would lead elsewhere. */
const OWN_PATH = /^\/(?![/\\])/

/** The path to go on to after signing in, of the query `next`; an invitation that waits, or the overview, unless it is a path of ours. */
export function useNext(): string {
  const [search] = useSearchParams()
  const next = search.get('next') ?? (rememberedInvitation() === '' ? '/' : INVITATION_PATH)
  return OWN_PATH.test(next) ? next : '/'
}

/** Goes on to `next` as the person who has just signed in. */
export function useArrival(): () => Promise<void> {
  const next = useNext()
  const [, navigate] = useLocation()
  return useCallback(async () => {
    await viewerChanged()
    navigate(next, { replace: true })
  }, [next, navigate])
}

/**
 * The token after the # of a mailed link, which is taken out of the address bar and its history as soon as the page is there; '' if
 * none. Not while it is drawn: React may draw a page anew before anybody has seen it, and then the token has to be there again.
 */
export function useMailedToken(): string {
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '')
  useLayoutEffect(() => {
    if (token !== '') window.history.replaceState(null, '', window.location.pathname + window.location.search)
  }, [token])
  return token
}
