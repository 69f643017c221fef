/** Stores an invitation's token in this browser until the person answers: they may have to sign up first. */

const KEY = 'svc-invitation'

export const INVITATION_PATH = '/invitation'

/** Stores the token of a mailed link. Sign-up continues in another tab, because it mails another link. */
export function rememberInvitation(token: string): void {
  try {
    window.localStorage.setItem(KEY, token)
  } catch {
    // Storage is disabled: the mailed link works again after signing in.
  }
}

/** The stored token; '' if there is none. */
export function rememberedInvitation(): string {
  try {
    return window.localStorage.getItem(KEY) ?? ''
  } catch {
    return ''
  }
}

/** Deletes the token, once the invitation is answered or no longer valid. */
export function forgetInvitation(): void {
  try {
    window.localStorage.removeItem(KEY)
  } catch {
    // Storage is disabled, so there is nothing to delete.
  }
}
