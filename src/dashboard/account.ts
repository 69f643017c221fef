/**
 * The account that the pages show: that of the address. A document shows one for as long as it lives, so that nothing of another account
 * is in its memory; another account loads the pages anew.
 */
import { api } from './client'
import { useViewer, type Viewer } from './session'

type OwnAccount = Viewer['accounts'][number]
export type Permission = OwnAccount['may'][number]
/** The routes of one account. */
export type AccountApi = ReturnType<typeof api.a>

const LAST_KEY = 'svc-account'
const ACCOUNT_PATH = /^\/a\/([^/]+)/

let shown: string | undefined

/** Which account a page is about, its path below `/dashboard`: that of the path, else the one looked at last, else the person's own. */
export function accountAt(path: string, { accounts, accountId }: Viewer): string {
  const named = ACCOUNT_PATH.exec(path)?.[1]
  if (named !== undefined) return named
  const candidates = [shown, readLast(), accountId]
  const isOwn = (id: string | undefined) => accounts.some((account) => account.accountId === id)
  return candidates.find(isOwn) ?? accounts[0]?.accountId ?? accountId
}

/** Has the pages show this account from now on. False if they show another, and are being loaded anew. */
export function showAccount(accountId: string): boolean {
  if (shown !== undefined && shown !== accountId) {
    window.location.reload()
    return false
  }
  shown = accountId
  return true
}

/** Remembers, in this browser, what was looked at last: only for where to begin next time. */
export function rememberAccount(accountId: string): void {
  try {
    window.localStorage.setItem(LAST_KEY, accountId)
  } catch {
    // A browser that keeps nothing begins with the person's own.
  }
}

function readLast(): string | undefined {
  try {
    return window.localStorage.getItem(LAST_KEY) ?? undefined
  } catch {
    return undefined
  }
}

/** The routes of the account that is shown. */
export function accountApi(): AccountApi {
  return api.a({ accountId: shown ?? '' })
}

/** The address of such a route, for what the typed client doesn't ask: downloads and streams. */
export function accountPath(path: string): string {
  return `/dashboard/api/a/${encodeURIComponent(shown ?? '')}/${path}`
}

/** Says whether the person may do something in the account that is shown. */
export function useMay(): (permission: Permission) => boolean {
  const account = useViewer().data?.accounts.find(({ accountId }) => accountId === shown)
  return (permission) => account?.may.includes(permission) ?? false
}
