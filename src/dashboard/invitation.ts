/** The invitation that somebody has opened before they could sign in: kept in this browser until it is answered. */

const KEY = 'svc-invitation'

export const INVITATION_PATH = '/invitation'

/** Keeps the token of a mailed link: signing up leads through another mail, and so through another tab. */
export function rememberInvitation(token: string): void {
  try {
    window.localStorage.setItem(KEY, token)
  } catch {
    // A browser that keeps nothing: the link of the mail works again once its person is signed in.
  }
}

/** The token that was kept; '' if none. */
export function rememberedInvitation(): string {
  try {
    return window.localStorage.getItem(KEY) ?? ''
  } catch {
    return ''
  }
}

/** Forgets it, once it is answered or void. */
export function forgetInvitation(): void {
  try {
    window.localStorage.removeItem(KEY)
  } catch {
    // Nothing was kept.
  }
}
