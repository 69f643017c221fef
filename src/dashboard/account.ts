/** The account that the pages show, from the URL. A change reloads the document, so that no other account's data stay in memory. */
import { useViewer, type Viewer } from './session'

type OwnAccount = Viewer['accounts'][number]
export type Permission = OwnAccount['may'][number]

const LAST_KEY = 'svc-account'
const ACCOUNT_PATH = /^\/a\/([^/]+)/

let shown: string | undefined

/** The account for a path below `/dashboard`: the path's, else the one shown last, else the person's own. */
export function accountAt(path: string, { accounts, accountId }: Viewer): string {
  const named = ACCOUNT_PATH.exec(path)?.[1]
  if (named !== undefined) return named
  const candidates = [shown, readLast(), accountId]
  const isOwn = (id: string | undefined) => accounts.some((account) => account.accountId === id)
  return candidates.find(isOwn) ?? accounts[0]?.accountId ?? accountId
}

/** Shows this account. Returns false if another one is shown: then the document reloads. */
export function showAccount(accountId: string): boolean {
  if (shown !== undefined && shown !== accountId) {
    window.location.reload()
    return false
  }
  shown = accountId
  return true
}

/** Remembers the account in this browser, as the start for the next visit. */
export function rememberAccount(accountId: string): void {
  try {
    window.localStorage.setItem(LAST_KEY, accountId)
  } catch {
    // Storage is disabled: the next visit starts with the person's own account.
  }
}

function readLast(): string | undefined {
  try {
    return window.localStorage.getItem(LAST_KEY) ?? undefined
  } catch {
    return undefined
  }
}

/** The URL of a route of the shown account. */
export function accountPath(path: string): string {
  return `/dashboard/api/a/${encodeURIComponent(shown ?? '')}/${path}`
}

/** Whether the person has a permission in the shown account. */
export function useMay(): (permission: Permission) => boolean {
  const account = useViewer().data?.accounts.find(({ accountId }) => accountId === shown)
  return (permission) => account?.may.includes(permission) ?? false
}
