/** Budgets once more in plain integers: whose a request is, what counts in which window, and who is refused for it. */
import { windowNumbers } from '@/ledger/budgets'
import { type ModelAccount, standingRecords, WINDOWS, type Window } from './account'

/** Whose a key is now. */
export function ownerOf({ budgets }: ModelAccount, keyId: string): string {
  return budgets.owners.get(keyId) ?? ''
}

function isIn(field: string, keyId: string, member: string): boolean {
  return field === 'account' || field === `key:${keyId}` || (member !== '' && field === `member:${member}`)
}

/** Whether a moment is in the window of now. */
export function isNow(window: Window, atMs: number, nowMs: number): boolean {
  return windowNumbers(atMs)[window] === windowNumbers(nowMs)[window]
}

/** What a scope has spent in each window of now, and what open requests hold of it. */
export function countedOf(account: ModelAccount, field: string) {
  const nowMs = account.clock.now()
  const spent = { day: 0, week: 0, month: 0, total: 0 }
  for (const { cost, keyId, member, atMs } of standingRecords(account)) {
    if (!isIn(field, keyId, member)) continue
    for (const window of WINDOWS) if (isNow(window, atMs, nowMs)) spent[window] += cost
  }
  let held = 0
  for (const hold of account.holds.values())
    if (hold.state === 'open' && isIn(field, hold.keyId, hold.member)) held += hold.amount
  return { spent, held }
}

/** What each limit of a scope comes to now, with what was granted. */
export function limitsOf({ budgets, clock }: ModelAccount, field: string): [Window, number][] {
  const own = budgets.scopes.get(field) ?? {}
  return WINDOWS.flatMap((window) => {
    const found = own[window]
    if (!found) return []
    return [[window, found.limit + (found.grantAt === windowNumbers(clock.now())[window] ? found.grant : 0)]]
  })
}

/** What a request with the key is refused for, or how much it may hold: the least of all that bind it. */
export function leastOf(account: ModelAccount, keyId: string) {
  const owner = ownerOf(account, keyId)
  const fields = ['account', ...(owner === '' ? [] : [`member:${owner}`]), `key:${keyId}`]
  const all = fields.flatMap((field) => {
    const { spent, held } = countedOf(account, field)
    const scope = field.split(':')[0] ?? ''
    return limitsOf(account, field).map(([window, limit]) => {
      return { scope, window, limit, spent: spent[window], held, remaining: limit - spent[window] - held }
    })
  })
  const least = all.reduce<(typeof all)[0] | undefined>(
    (one, other) => (one && one.remaining <= other.remaining ? one : other),
    undefined,
  )
  const month = account.budgets.monthOfKey.get(keyId)
  const { spent, held } = countedOf(account, `key:${keyId}`)
  return { least, monthLeft: month === undefined ? undefined : month - spent.month - held }
}

/** Sets one limit, or takes it off. Says which smaller window would have more than a larger one, where that is so. */
export function setLimit(account: ModelAccount, field: string, window: Window, limit: number | null): string {
  const { scopes, monthOfKey } = account.budgets
  const present = scopes.get(field) ?? {}
  const monthly = monthOfKey.get(field.replace('key:', ''))
  const amounts = WINDOWS.map((one) => {
    if (one === window) return limit
    return one === 'month' && field.startsWith('key:') ? monthly : present[one]?.limit
  })
  const isAbove = amounts.some((amount, index) =>
    amounts.slice(index).some((more) => (more ?? amount ?? 0) < (amount ?? 0)),
  )
  if (isAbove) return 'above_larger'
  const { [window]: before, ...others } = present
  const after = limit === null ? others : { ...others, [window]: { grant: 0, grantAt: 0, ...before, limit } }
  if (Object.keys(after).length > 0) scopes.set(field, after)
  else scopes.delete(field)
  return 'updated'
}

/** Adds to a limit for the window of now. */
export function grant(account: ModelAccount, field: string, window: Window, amount: number): string {
  const found = account.budgets.scopes.get(field)?.[window]
  if (!found) return 'no_limit'
  const at = windowNumbers(account.clock.now())[window]
  Object.assign(found, { grant: amount + (found.grantAt === at ? found.grant : 0), grantAt: at })
  return 'updated'
}

/** A key goes to another member; open holds stay the first one's. */
export function transfer(account: ModelAccount, keyId: string, owner: string): void {
  account.budgets.owners.set(keyId, owner)
}
