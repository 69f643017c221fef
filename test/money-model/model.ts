/**
 * Every rule by which money moves, once more in plain integers: nano-USD, or cents where the name says so. What this says of a
 * sequence of operations is what two gateways, Redis and Postgres have to say of it.
 */

type ModelHold = {
  amount: number
  inputCost: number
  state: 'open' | 'settled' | 'released' | 'expired'
  /** What the last renewal recorded; once it has expired, what that cost. */
  cost: number
  isReached: boolean
  isDue: boolean
}

/** A charge on its way to the history, or in it. */
type ModelRecord = { cost: number; kind: 'settle' | 'expire' | 'late' }

/** What Redis alone knows, and forgets with its last seconds. */
export type Hot = { holds: Map<string, ModelHold>; stream: Map<string, ModelRecord> }

type ModelReversal = { amountCents: number; wonCents: number }
export type ModelOrder = {
  paidCents: number
  refundedCents: number
  takenCents: number
  /** The rest was refunded: nothing is any more, whatever comes back of chargebacks. */
  isClosed: boolean
  reversals: ModelReversal[]
}

export type ModelAccount = Hot & {
  /** The sum of all ledger entries. */
  credited: number
  books: Map<string, ModelRecord>
  isSuspended: boolean
  /** Money was taken back, and nobody has decided on the account since. */
  isDoubted: boolean
  orders: Map<string, ModelOrder>
  /** Orders that nobody has agreed to pay. */
  openOrders: number
}

export const NANO_PER_CENT = 10_000_000

/** An account without credit. */
export function newAccount(): ModelAccount {
  const hot = { holds: new Map(), stream: new Map() }
  return {
    ...hot,
    credited: 0,
    books: new Map(),
    isSuspended: false,
    isDoubted: false,
    orders: new Map(),
    openOrders: 0,
  }
}

/** What the account has: `available`, `held` and `spent` come to what was credited. A record in both places counts once. */
export function moneyOf({ holds, stream, books, credited }: ModelAccount) {
  let held = 0
  for (const hold of holds.values()) if (hold.state === 'open') held += hold.amount
  let spent = 0
  for (const { cost } of new Map([...accepted(stream, books), ...books]).values()) spent += cost
  return { available: credited - held - spent, held, spent }
}

/** A late charge of what the history has as settled in full is a second one, which it does not take: its store was rewound twice. */
function accepted(stream: ReadonlyMap<string, ModelRecord>, books: ReadonlyMap<string, ModelRecord>) {
  const isSecond = (recordId: string) => books.get(recordId.replace(/:late$/, ''))?.kind === 'settle'
  return [...stream].filter(([recordId, { kind }]) => kind !== 'late' || !isSecond(recordId))
}

/** What a reserve answers: never more than is available. */
export function reserve(account: ModelAccount, holdId: string, amount: number, inputCost: number): string {
  if (account.isSuspended) return 'account_suspended'
  if (moneyOf(account).available < amount) return 'insufficient'
  account.holds.set(holdId, { amount, inputCost, state: 'open', cost: 0, isReached: false, isDue: false })
  return 'reserved'
}

/** What a renewal answers. */
export function renew(account: ModelAccount, holdId: string, cost: number): string {
  const hold = account.holds.get(holdId)
  if (hold?.state !== 'open') return hold?.state ?? 'unknown_hold'
  Object.assign(hold, { cost, isReached: true, isDue: false })
  return 'renewed'
}

/** A settlement is always sent with force: the reserve was answered before anything was delivered. */
export function settle(account: ModelAccount, holdId: string, cost: number): string {
  const { holds, stream, books } = account
  const hold = holds.get(holdId)
  if (hold?.state === 'settled' || hold?.state === 'released') return `already_${hold.state}`
  const known = (recordId: string) => stream.get(recordId) ?? books.get(recordId)
  const first = known(holdId)
  const isCharged = known(`${holdId}:late`) !== undefined || (hold ? first?.kind === 'settle' : first !== undefined)
  if (hold?.state !== 'open' && isCharged) return 'already_settled'
  const isLate = hold?.state === 'expired'
  if (isLate) stream.set(`${holdId}:late`, { cost: cost - hold.cost, kind: 'late' })
  else stream.set(holdId, { cost, kind: 'settle' })
  holds.set(holdId, { ...(hold ?? { amount: 0, inputCost: 0, isReached: true, isDue: false }), state: 'settled', cost })
  return isLate ? 'late' : 'settled'
}

/** Gives the hold back; one that is unknown can never be reserved after it. */
export function release(account: ModelAccount, holdId: string): void {
  const hold = account.holds.get(holdId)
  const fence = { amount: 0, inputCost: 0, cost: 0, isReached: false, isDue: false }
  if (!hold || hold.state === 'open') account.holds.set(holdId, { ...(hold ?? fence), state: 'released' })
}

/** Ends every hold that is due. Returns what each cost. */
export function expire({ holds, stream }: ModelAccount): [string, number][] {
  const due = [...holds].filter(([, hold]) => hold.state === 'open' && hold.isDue)
  return due.map(([holdId, hold]) => {
    const cost = hold.isReached ? Math.min(hold.amount, Math.max(hold.cost, hold.inputCost)) : 0
    if (hold.isReached) stream.set(holdId, { cost, kind: 'expire' })
    Object.assign(hold, { state: 'expired', cost })
    return [holdId, cost]
  })
}

/** Credit comes or goes by an entry of the history; false where there is not enough of it, and there has to be. */
export function enter(account: ModelAccount, amount: number, mayOverdraw: boolean): boolean {
  if (!mayOverdraw && moneyOf(account).available + amount < 0) return false
  account.credited += amount
  return true
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
export function flush({ stream, books }: ModelAccount, isKilled: boolean): void {
  for (const [recordId, record] of accepted(stream, books)) if (!books.has(recordId)) books.set(recordId, record)
  if (!isKilled) stream.clear()
}
