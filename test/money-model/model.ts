/**
 * Every rule by which money moves, once more in plain integers: nano-USD, or cents where the name says so. What this says of a
 * sequence of operations is what two gateways, Redis and Postgres have to say of it.
 */
import { accepted, type Hot, type ModelAccount, type ModelOrder, standingRecords } from './account'
import { isNow, leastOf, ownerOf } from './budgets-model'

export const NANO_PER_CENT = 10_000_000

type ModelRequest = { keyId: string; holdId: string; amount: number; inputCost: number }

/** What the account has: `available`, `held` and `spent` come to what was credited. A record in both places counts once. */
export function moneyOf(account: ModelAccount) {
  let held = 0
  for (const hold of account.holds.values()) if (hold.state === 'open') held += hold.amount
  let spent = 0
  for (const { cost } of standingRecords(account)) spent += cost
  return { available: account.credited - held - spent, held, spent }
}

/** What was charged in the month of now: to the account, or to one of its keys. */
export function spentThisMonth(account: ModelAccount, keyId?: string): number {
  let spent = 0
  for (const record of standingRecords(account)) {
    const isOwn = keyId === undefined || record.keyId === keyId
    if (isOwn && isNow('month', record.atMs, account.clock.now())) spent += record.cost
  }
  return spent
}

/** What a key's open requests are, and what they hold. */
export function openOf({ holds }: ModelAccount, keyId: string) {
  const open = [...holds.values()].filter((hold) => hold.state === 'open' && hold.keyId === keyId)
  return { open: open.length, held: open.reduce((sum, { amount }) => sum + amount, 0) }
}

/** What a reserve answers: never more than is available, and than every budget of its account, its member and its key has left. */
export function reserve(account: ModelAccount, request: ModelRequest): { kind: string } {
  const { keyId, holdId, amount, inputCost } = request
  if (account.isSuspended) return { kind: 'account_suspended' }
  const { least, monthLeft } = leastOf(account, keyId)
  if (monthLeft !== undefined && monthLeft < amount && !(least && least.remaining < monthLeft))
    return { kind: 'budget_exceeded', ...{ remaining: Math.max(0, monthLeft) } }
  if (least && least.remaining < amount) return { kind: 'over_budget', ...least }
  if (moneyOf(account).available < amount) return { kind: 'insufficient' }
  const member = ownerOf(account, keyId)
  account.holds.set(holdId, {
    ...{ keyId, member, amount, inputCost, state: 'open', cost: 0, isReached: false, isDue: false },
  })
  return { kind: 'reserved' }
}

/** What a renewal answers. */
export function renew(account: ModelAccount, holdId: string, cost: number): string {
  const hold = account.holds.get(holdId)
  if (hold?.state !== 'open') return hold?.state ?? 'unknown_hold'
  Object.assign(hold, { cost, isReached: true, isDue: false })
  return 'renewed'
}

/** A settlement is always sent with force: the reserve was answered before anything was delivered. */
export function settle(account: ModelAccount, keyId: string, holdId: string, cost: number): string {
  const { holds, stream, books } = account
  const hold = holds.get(holdId)
  if (hold?.state === 'settled' || hold?.state === 'released') return `already_${hold.state}`
  const known = (recordId: string) => stream.get(recordId) ?? books.get(recordId)
  const first = known(holdId)
  const isCharged = known(`${holdId}:late`) !== undefined || (hold ? first?.kind === 'settle' : first !== undefined)
  if (hold?.state !== 'open' && isCharged) return 'already_settled'
  const isLate = hold?.state === 'expired'
  const found = hold ?? nothingHeld(account, keyId)
  const whose = { keyId, member: found.member, atMs: account.clock.now() }
  if (isLate) stream.set(`${holdId}:late`, { cost: cost - hold.cost, kind: 'late', ...whose })
  else stream.set(holdId, { cost, kind: 'settle', ...whose })
  holds.set(holdId, { ...found, isReached: hold?.isReached ?? true, state: 'settled', cost })
  return isLate ? 'late' : 'settled'
}

function nothingHeld(account: ModelAccount, keyId: string) {
  return { keyId, member: ownerOf(account, keyId), amount: 0, inputCost: 0, cost: 0, isReached: false, isDue: false }
}

/** Gives the hold back; one that is unknown can never be reserved after it. */
export function release(account: ModelAccount, keyId: string, holdId: string): void {
  const hold = account.holds.get(holdId)
  if (!hold || hold.state === 'open')
    account.holds.set(holdId, { ...(hold ?? nothingHeld(account, keyId)), state: 'released' })
}

/** Ends every hold that is due. Returns what each cost. */
export function expire(account: ModelAccount): [string, number][] {
  const due = [...account.holds].filter(([, hold]) => hold.state === 'open' && hold.isDue)
  return due.map(([holdId, hold]) => {
    const cost = hold.isReached ? Math.min(hold.amount, Math.max(hold.cost, hold.inputCost)) : 0
    const { keyId, member } = hold
    if (hold.isReached) account.stream.set(holdId, { cost, kind: 'expire', keyId, member, atMs: account.clock.now() })
    Object.assign(hold, { state: 'expired', cost })
    return [holdId, cost]
  })
}

/**
 * Credit comes or goes by an entry of the history; false if there is not enough of it, and there has to be. What a late charge gives
 * back is not there before the history has it: Redis may forget that charge.
 */
export function enter(account: ModelAccount, amount: number, mayOverdraw: boolean): boolean {
  if (!mayOverdraw && Math.min(moneyOf(account).available, inHistory(account)) + amount < 0) return false
  account.credited += amount
  return true
}

function inHistory({ credited, books }: ModelAccount): number {
  let balance = credited
  for (const { cost } of books.values()) balance -= cost
  return balance
}

/** What payers can still take back: it stays in its account, and counts as spent last. */
export function reversibleOf({ orders }: ModelAccount): number {
  return (
    [...orders.values()]
      .filter(({ isReversible }) => isReversible)
      .reduce((sum, order) => sum + Math.max(order.paidCents - order.refundedCents - order.takenCents, 0), 0) *
    NANO_PER_CENT
  )
}

/** Why credit can't leave the account for another one, or by an operator who takes it; undefined if it has left. */
export function take(account: ModelAccount, amount: number): 'insufficient' | 'reversible' | undefined {
  const keep = reversibleOf(account)
  for (const balance of [inHistory(account), moneyOf(account).available]) {
    if (balance - keep < amount) return balance < amount || keep === 0 ? 'insufficient' : 'reversible'
  }
  account.credited -= amount
  return undefined
}

/** Credit that an owner moves from one account to another: what is held is not, nor what can be taken back. */
export function move(from: ModelAccount, to: ModelAccount, amount: number): string {
  if (from.isSuspended) return 'suspended'
  const refusal = take(from, amount)
  if (refusal) return refusal
  to.credited += amount
  return 'moved'
}

/** What a refund of an order answers. */
export function refund(account: ModelAccount, order: ModelOrder, cents: number, mayOverdraw: boolean): string {
  const refundable = Math.max(order.paidCents - order.refundedCents - order.takenCents, 0)
  if (order.isClosed) return 'not_refundable'
  if (cents > refundable) return 'too_much'
  if (!enter(account, -cents * NANO_PER_CENT, mayOverdraw)) return 'insufficient_balance'
  order.refundedCents += cents
  order.isClosed = cents === refundable
  return 'refunded'
}

/** A chargeback, or one that was won: credit follows what stands of them all, up to what was paid. */
export function reverse(account: ModelAccount, order: ModelOrder, change: () => void, isTaking: boolean): void {
  change()
  const standing = order.reversals.reduce((sum, one) => sum + Math.max(one.amountCents - one.wonCents, 0), 0)
  const taken = Math.min(order.paidCents, standing)
  const moved = taken - order.takenCents
  order.takenCents = taken
  account.credited -= moved * NANO_PER_CENT
  if (!isTaking || moved === 0) return
  account.isDoubted = true
  judge(account)
}

/** Whoever owes credit after money was taken back is suspended, unless somebody has decided on the account since. */
export function judge(account: ModelAccount): void {
  if (account.isDoubted && account.credited < moneyOf(account).spent) decide(account, true)
}

/** Somebody, or the rule for who owes, has decided on the account. */
export function decide(account: ModelAccount, isSuspended: boolean): void {
  Object.assign(account, { isSuspended, isDoubted: false })
}

/** Redis is as it was then; what the history has stays, and ends the holds that it knows the charge of. */
export function rewind(account: ModelAccount, { holds, stream }: Hot): void {
  Object.assign(account, structuredClone({ holds, stream }))
  for (const [holdId, hold] of account.holds)
    if (hold.state === 'open' && (account.books.has(holdId) || account.books.has(`${holdId}:late`)))
      hold.state = 'settled'
}

/** Carries the stream into the books; a flusher that dies leaves it in the stream as well. */
export function flush(account: ModelAccount, isKilled: boolean): void {
  const { stream, books } = account
  for (const [recordId, record] of accepted(stream, books)) if (!books.has(recordId)) books.set(recordId, record)
  if (!isKilled) stream.clear()
}
