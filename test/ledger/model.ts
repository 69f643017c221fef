/** The ledger's rules once more, in plain memory and plain arithmetic: what the scripts are compared with. */
import type { Payer, RenewOutcome, ReserveRequest } from '@/ledger/outcomes'

const UNIT = 60_000
const MAX_LIMIT = 10_000_000_000
const MIN_LEVEL = -2 * MAX_LIMIT * UNIT

type ModelHold = {
  payer: Payer
  state: 'open' | 'settled' | 'released' | 'expired'
  amount: number
  inputCost: number
  taken: number
  cost: number
  isReached: boolean
  /** Milliseconds until the deadline. */
  remainingMs: number
}

/** A level that is known up to how fast the machine was: real time passes while the test runs. */
type Bucket = { low: number; high: number; elapsedMs: number; sinceMs: number } | undefined

type ModelKey = Limits & {
  status: 'active' | 'deactivated' | 'deleted'
  monthlyBudget: number | null
  /** As one text; empty = every model. */
  allowedModels: string
  spent: number
  requests: Bucket
  tokens: Bucket
}

type ModelRecord = { recordId: string; holdId: string; keyId: string; cost: number; seq: number }

type Limits = { requestsPerMinute: number; tokensPerMinute: number; concurrency: number }

export type ModelAccount = Limits & {
  status: 'active' | 'suspended'
  requests: Bucket
  tokens: Bucket
  available: number
  spent: number
  seq: number
  overrun: number
  credits: Map<string, number>
  keys: Map<string, ModelKey>
  holds: Map<string, ModelHold>
  /** Records in the stream, and records in the history's books. */
  stream: ModelRecord[]
  books: Map<string, ModelRecord>
}

export type Expected = { kind: string; [field: string]: unknown }

/** The holds that are open, of the account or of one of its keys. */
export function openHolds(account: ModelAccount, keyId?: string): ModelHold[] {
  return [...account.holds.values()].filter(
    (hold) => hold.state === 'open' && (keyId === undefined || hold.payer.keyId === keyId),
  )
}

/** What the open holds of the account, or of one of its keys, come to. */
export function heldBy(account: ModelAccount, keyId?: string): number {
  return openHolds(account, keyId).reduce((sum, hold) => sum + hold.amount, 0)
}

/** All that a reserve may answer: more than one where the answer hangs on a few milliseconds. `commit` makes it happen. */
export function reserve(
  account: ModelAccount,
  request: ReserveRequest,
  sentMs: number,
  answeredMs: number,
): { expected: Expected; commit(): void }[] {
  const nothing = () => undefined
  const only = (expected: Expected) => [{ expected, commit: nothing }]
  const known = account.holds.get(request.holdId)
  if (known) return only({ kind: 'exists', state: known.state })
  const key = account.keys.get(request.keyId)
  if (!key) return only({ kind: 'unknown_key' })
  if (key.status !== 'active') return only({ kind: 'key_inactive', status: key.status })
  if (account.status !== 'active') return only({ kind: 'account_suspended' })
  if (key.allowedModels !== textOf(request.allowed?.allowedModels)) return only({ kind: 'models_changed' })
  const requestsPerMinute = Math.min(key.requestsPerMinute, account.requestsPerMinute)
  const tokensPerMinute = Math.min(key.tokensPerMinute, account.tokensPerMinute)
  const taken = Math.min(request.tokens, tokensPerMinute)
  const buckets = [
    { of: 'account', scope: 'requests', bucket: account.requests, limit: account.requestsPerMinute, units: UNIT },
    { of: 'key', scope: 'requests', bucket: key.requests, limit: requestsPerMinute, units: UNIT },
    { of: 'account', scope: 'tokens', bucket: account.tokens, limit: account.tokensPerMinute, units: taken * UNIT },
    { of: 'key', scope: 'tokens', bucket: key.tokens, limit: tokensPerMinute, units: taken * UNIT },
  ].map((each) => ({ ...each, level: levels(each.bucket, each.limit, answeredMs) }))
  const outcomes: { expected: Expected; commit(): void }[] = []
  for (const { of, scope, limit, units, level } of buckets) {
    if (level.low < units) outcomes.push(...only({ kind: 'rate_limited', scope, of, limit }))
    if (level.high < units) return outcomes
  }
  const final = afterLimits(account, key, request)
  if (final.kind !== 'reserved') return [...outcomes, ...only(final)]
  const commit = () => {
    account.available -= request.amount
    const [requests, keyRequests, tokens, keyTokens] = buckets.map(({ level, units }) => spend(level, units, sentMs))
    Object.assign(key, { requests: keyRequests, tokens: keyTokens })
    Object.assign(account, { requests, tokens })
    account.holds.set(request.holdId, {
      payer: { accountId: request.accountId, keyId: request.keyId },
      state: 'open',
      amount: request.amount,
      inputCost: request.inputCost,
      taken,
      cost: 0,
      isReached: false,
      remainingMs: request.ttlMs,
    })
  }
  return [...outcomes, { expected: final, commit }]
}

function textOf(models: readonly string[] | null | undefined): string {
  return models ? [...new Set(models)].sort().join() : ''
}

function afterLimits(account: ModelAccount, key: ModelKey, request: ReserveRequest): Expected {
  const { amount, keyId } = request
  const concurrency = Math.min(key.concurrency, account.concurrency)
  const refused = { kind: 'rate_limited', scope: 'concurrency', retryAfterMs: 1_000 }
  if (openHolds(account).length >= account.concurrency) return { ...refused, of: 'account', limit: account.concurrency }
  if (openHolds(account, keyId).length >= concurrency) return { ...refused, of: 'key', limit: concurrency }
  if (key.monthlyBudget !== null) {
    const remaining = key.monthlyBudget - key.spent - heldBy(account, keyId)
    if (remaining < amount) {
      const left = { remaining: Math.max(0, remaining), held: heldBy(account, keyId) }
      return { kind: 'budget_exceeded', ...left, needed: amount, available: account.available }
    }
  }
  const held = heldBy(account)
  if (account.available < amount) return { kind: 'insufficient', available: account.available, held, needed: amount }
  return { kind: 'reserved', available: account.available - amount }
}

/** What a renewal answers; the hold then ends no sooner than in `ttlMs`. */
export function renew(
  account: ModelAccount,
  holdId: string,
  ttlMs: number,
  cost: number,
  isReached: boolean,
): RenewOutcome {
  const hold = account.holds.get(holdId)
  if (!hold) return 'unknown_hold'
  if (hold.state !== 'open') return hold.state
  hold.remainingMs = Math.max(hold.remainingMs, ttlMs)
  hold.cost = cost
  hold.isReached ||= isReached
  return 'renewed'
}

/** What a settlement answers; `force` charges without a hold, too. Of an hour, all hang-ups are free here, or none. */
export function settle(
  account: ModelAccount,
  settlement: Payer & { holdId: string; cost: number; tokens: number; freePerHour?: number },
  force: boolean,
): Expected {
  const { holdId, keyId } = settlement
  const hold = account.holds.get(holdId)
  const cost = settlement.freePerHour && hold?.state !== 'expired' ? 0 : settlement.cost
  if (hold?.state === 'settled') return { kind: 'already_settled' }
  if (hold?.state === 'released') return { kind: 'already_released' }
  if (hold?.state === 'expired') {
    charge(account, { recordId: `${holdId}:late`, holdId, keyId, cost: cost - hold.cost }, 0)
    hold.state = 'settled'
    return { kind: 'late', expiredCost: hold.cost }
  }
  if (!hold) {
    if (!force) return { kind: 'unknown_hold' }
    const isCharged = [...account.stream, ...account.books.values()].some((record) => record.holdId === holdId)
    if (isCharged) return { kind: 'already_settled' }
    charge(account, { recordId: holdId, holdId, keyId, cost }, 0)
    account.holds.set(holdId, { ...tombstone(settlement), cost })
    return { kind: 'settled', overrun: cost > 0 }
  }
  charge(account, { recordId: holdId, holdId, keyId, cost }, hold.amount)
  giveBack(account, hold, settlement.tokens)
  Object.assign(hold, { state: 'settled', cost })
  return { kind: 'settled', overrun: cost > hold.amount }
}

/** What a release answers; the credit comes back whole. */
export function release(account: ModelAccount, payer: Payer, holdId: string): string {
  const hold = account.holds.get(holdId)
  if (!hold) account.holds.set(holdId, { ...tombstone(payer), state: 'released' })
  if (hold?.state !== 'open') return hold ? `already_${hold.state}` : 'unknown_hold'
  account.available += hold.amount
  giveBack(account, hold, 0)
  hold.state = 'released'
  return 'released'
}

/** Expires what is due. Returns cost by hold id. */
export function expireDue(account: ModelAccount): Map<string, number> {
  const costs = new Map<string, number>()
  for (const [holdId, hold] of account.holds) {
    if (hold.state !== 'open' || hold.remainingMs > 0) continue
    const cost = hold.isReached ? Math.min(hold.amount, Math.max(hold.cost, hold.inputCost)) : 0
    if (hold.isReached) charge(account, { recordId: holdId, holdId, keyId: hold.payer.keyId, cost }, hold.amount)
    else account.available += hold.amount
    giveBack(account, hold, hold.isReached ? hold.taken : 0)
    Object.assign(hold, { state: 'expired', cost })
    costs.set(holdId, cost)
  }
  return costs
}

/** What a credit answers, which happens once by its id. */
export function credit(account: ModelAccount, entryId: string, amount: number): Expected {
  if (account.credits.has(entryId)) return { kind: 'exists', available: account.available }
  account.credits.set(entryId, amount)
  account.available += amount
  if (amount < 0) account.overrun -= amount
  return { kind: 'credited', available: account.available }
}

/** Carries the stream into the books; `crash` leaves it in the stream as well. */
export function flush(account: ModelAccount, crash: boolean): void {
  for (const record of account.stream)
    if (!account.books.has(record.recordId)) account.books.set(record.recordId, record)
  if (!crash) account.stream = []
}

/** Lets time pass: deadlines come nearer, limits fill up. */
export function advance(account: ModelAccount, ms: number): void {
  for (const hold of account.holds.values()) hold.remainingMs -= ms
  for (const counter of [account, ...account.keys.values()]) {
    for (const bucket of [counter.requests, counter.tokens]) if (bucket) bucket.elapsedMs += ms
  }
}

/** What must hold after `old` came back in place of the account, once it is confirmed: the books win. */
export function rewind(account: ModelAccount, old: ModelAccount): void {
  const { books, credits, status, keys, requestsPerMinute, tokensPerMinute, concurrency } = account
  const fresh = old.stream.filter((record) => !books.has(record.recordId))
  // One that expired for nothing is charged by its late record alone.
  const isBooked = (holdId: string) => books.has(holdId) || books.has(`${holdId}:late`) || credits.has(holdId)
  for (const [holdId, hold] of old.holds) if (hold.state === 'open' && isBooked(holdId)) hold.state = 'settled'
  const spentBy = (keyId?: string) =>
    [...books.values(), ...fresh]
      .filter((record) => keyId === undefined || record.keyId === keyId)
      .reduce((sum, record) => sum + record.cost, 0)
  const credited = [...credits.values()].reduce((sum, amount) => sum + amount, 0)
  for (const [keyId, key] of old.keys) {
    const { requests, tokens } = key
    Object.assign(key, keys.get(keyId), { requests, tokens, spent: spentBy(keyId) })
  }
  const seq = Math.max(old.seq, ...[...books.values()].map((record) => record.seq))
  const available = credited - spentBy() - heldBy(old)
  const overrun = Math.max(old.overrun, -available, 0)
  const limits = { requestsPerMinute, tokensPerMinute, concurrency }
  Object.assign(account, old, { books, credits, status, ...limits, available, spent: spentBy(), seq, overrun })
}

function charge(account: ModelAccount, record: Omit<ModelRecord, 'seq'>, returned: number): void {
  account.available += returned - record.cost
  account.spent += record.cost
  account.overrun += Math.max(0, record.cost - returned)
  account.seq += 1
  account.stream.push({ ...record, seq: account.seq })
  const key = account.keys.get(record.keyId)
  if (key) key.spent += record.cost
}

function giveBack(account: ModelAccount, hold: ModelHold, used: number): void {
  const change = (hold.taken - Math.min(used, MAX_LIMIT)) * UNIT
  for (const bucket of [account.tokens, account.keys.get(hold.payer.keyId)?.tokens]) {
    if (!bucket) continue
    bucket.low = Math.max(MIN_LEVEL, bucket.low + change)
    bucket.high = Math.max(MIN_LEVEL, bucket.high + change)
  }
}

/** The rest of a hold that was resolved. */
export function tombstone(payer: Payer): ModelHold {
  const zero = { amount: 0, inputCost: 0, taken: 0, cost: 0, isReached: false, remainingMs: 0 }
  return { payer: { accountId: payer.accountId, keyId: payer.keyId }, state: 'settled', ...zero }
}

function levels(bucket: Bucket, limit: number, nowMs: number): { low: number; high: number } {
  const full = limit * UNIT
  if (!bucket) return { low: full, high: full }
  const refill = (level: number, elapsed: number) =>
    Math.min(full, Math.max(-full, level) + Math.min(elapsed, 2 * UNIT) * limit)
  return {
    low: refill(bucket.low, bucket.elapsedMs),
    high: refill(bucket.high, bucket.elapsedMs + Math.ceil(nowMs - bucket.sinceMs) + 1),
  }
}

function spend(level: { low: number; high: number }, units: number, nowMs: number): Bucket {
  const low = Math.max(0, level.low - units)
  return { low, high: Math.max(low, level.high - units), elapsedMs: 0, sinceMs: nowMs }
}
