/** The account that the pages show, from the URL. If it changes, the document reloads, so that no other account's data stay in memory. */
let shown: string | undefined

/** The id of the shown account; undefined before an account is shown. */
export function shownAccount(): string | undefined {
  return shown
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

/** The URL of a route of the shown account. */
export function accountPath(path: string): string {
  return `/dashboard/api/a/${encodeURIComponent(shown ?? '')}/${path}`
}
