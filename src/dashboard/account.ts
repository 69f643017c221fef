/** Chooses the account to show for a URL's path, and knows the person's permissions in it. */
import { useViewer, type Viewer } from './session'
import { shownAccount } from './shown-account'

type OwnAccount = Viewer['accounts'][number]
export type Permission = OwnAccount['may'][number]

const LAST_KEY = 'svc-account'
const ACCOUNT_PATH = /^\/a\/([^/]+)/

/** The account for a path below `/dashboard`: the one in the path, else the one that was shown last, else the person's own. */
export function accountAt(path: string, { accounts, accountId }: Viewer): string {
  const named = ACCOUNT_PATH.exec(path)?.[1]
  if (named !== undefined) return named
  const candidates = [shownAccount(), readLast(), accountId]
  const isOwn = (id: string | undefined) => accounts.some((account) => account.accountId === id)
  return candidates.find(isOwn) ?? accounts[0]?.accountId ?? accountId
}

/** Remembers the account in this browser. The next visit starts with it. */
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

/** Whether the person has a permission in the shown account. */
export function useMay(): (permission: Permission) => boolean {
  const account = useViewer().data?.accounts.find(({ accountId }) => accountId === shownAccount())
  return (permission) => account?.may.includes(permission) ?? false
}
