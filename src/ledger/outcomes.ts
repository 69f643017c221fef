/** Requests to the ledger and their outcomes. Every outcome has a name; none is an exception. */

import type { RateLimits } from '@/chat/rate-limits'
import type { Payer } from '@/ledger/store/names'
import type { Nano } from '@/lib/money'
import type { AddressLists } from './address-lists'
import type { Allowed } from './allowed'
import type { AccountBudgets, BudgetScope, BudgetWindow } from './budgets'
import type { KeySecrets } from './key-secrets'
import type { RequestFacts, UsageRecord } from './usage-record'

export type { Payer } from '@/ledger/store/names'
export type { KeySecrets } from './key-secrets'

/** A request to hold credit. All checks and the hold are one atomic step. */
export type ReserveRequest = Payer & {
  /** The key's permission at planning time. Undefined = everything. */
  allowed?: Allowed

  /** Unique per request; all later calls about the hold use it. */
  holdId: string
  /** The most this request can cost. A non-negative integer. */
  amount: Nano
  /** The minimum charge if the gateway dies after reaching the upstream: the price of the input. At most `amount`. */
  inputCost: Nano
  /** Tokens to take from the key's tokens per minute: input bound + output cap. A non-negative integer. */
  tokens: number
  /** Milliseconds from now (by the time in Redis) until the hold may be expired, unless renewed. */
  ttlMs: number
  /** The client's address, needed only for keys with address lists. Undefined: unknown. */
  from?: { readonly clientAddress: string } | undefined
}

export type ReserveOutcome =
  /** `limits`: the state of the rate limits after the reserve. */
  | { kind: 'reserved'; available: Nano; limits: Required<RateLimits> }
  /** The hold id was used before; `state` is the hold's current state. A replay of our own reserve gets `open`. */
  | { kind: 'exists'; state: 'open' | 'settled' | 'released' | 'expired' }
  | { kind: 'unknown_account' }
  /** The account is loaded but this key is not: load it from the database and try again. */
  | { kind: 'unknown_key' }
  | { kind: 'account_suspended' }
  | { kind: 'key_inactive'; status: 'deactivated' | 'deleted' | 'expired' | 'replaced' }
  | { kind: 'address_not_allowed' }
  /** The key's permission differs from the one at planning time: plan again with `allowed`. */
  | { kind: 'models_changed'; allowed: Allowed }
  | { kind: 'insufficient'; available: Nano; held: Nano; needed: Nano }
  /** `remaining` in the key's budget, `held` by its open requests, and `available` in the account. */
  | { kind: 'budget_exceeded'; resetsAtMs: number; remaining: Nano; held: Nano; needed: Nano; available: Nano }
  /** The exceeded budget with the least `remaining`, which may be negative. */
  | (OverBudget & { kind: 'over_budget'; remaining: Nano; needed: Nano; available: Nano })
  | (Limited & { scope: 'requests' | 'tokens'; limits: RateLimits })
  | (Limited & { scope: 'concurrency' })

/** `limit` with the window's grant; `spent` in the window; `held` by open requests. `resetsAtMs`: undefined if never. */
type OverBudget = {
  scope: BudgetScope
  window: BudgetWindow
  resetsAtMs: number | undefined
  limit: Nano
  spent: Nano
  held: Nano
}

export type Refusal = Exclude<ReserveOutcome, { kind: 'reserved' }>

/** `of`: the key's own limit, or the account's shared limit for all keys. */
type Limited = { kind: 'rate_limited'; of: 'key' | 'account'; limit: number; retryAfterMs: number }

/** Default limits of keys and accounts, per minute and concurrent. Positive integers. */
export type DefaultLimits = { requestsPerMinute: number; tokensPerMinute: number; concurrency: number }

/** Progress of an open hold: the deadline moves to now + `ttlMs`, and `cost` is charged if the gateway dies. */
export type Renewal = {
  accountId: string
  holdId: string
  ttlMs: number
  cost: Nano
  facts: RequestFacts
  reached: boolean
}
export type RenewOutcome = 'renewed' | 'settled' | 'released' | 'expired' | 'unknown_hold'

export type Settlement = Payer & {
  holdId: string
  cost: Nano
  /** Tokens really used, to correct the tokens per minute taken by reserve. */
  tokens: number
  facts: RequestFacts
  /** If the client disconnected before the first byte: the number of free disconnects per account and hour. Undefined otherwise. */
  freePerHour?: number
}

export type SettleOutcome =
  | { kind: 'settled'; overrun: boolean; record: UsageRecord }
  | { kind: 'already_settled' }
  | { kind: 'late'; expiredCost: Nano; record: UsageRecord }
  | { kind: 'already_released' }
  /** Redis does not have the hold. With `force` the cost is charged anyway (Redis lost the hold). */
  | { kind: 'unknown_hold' }

export type ReleaseOutcome = 'released' | 'already_settled' | 'already_released' | 'already_expired' | 'unknown_hold'

/** How a hold ended: `charged`, `free` (without a charge), `open`, or `unknown`. */
export type HoldFate = { kind: 'open' | 'free' | 'unknown' } | { kind: 'charged'; sinceMs: number }

export type ExpiredHold = { holdId: string; accountId: string; keyId: string; cost: Nano }

/** Credit added (or, negative, taken back), identified by its ledger entry. */
export type Credit = { accountId: string; entryId: string; amount: Nano }
export type CreditOutcome = { kind: 'credited' | 'exists'; available: Nano } | { kind: 'unknown_account' }

/** Credit that Postgres is about to take back by the entry `entryId`. `amount` is positive. */
export type Withheld = { accountId: string; entryId: string; amount: Nano }
export type Withholding = Withheld & {
  /** Milliseconds from now (by the time in Redis) until Postgres is asked whether it has the entry. */
  ttlMs: number
  /** Whether the balance may become negative. */
  allowNegative: boolean
  /** The amount that must stay available unless the balance may become negative. Undefined: none. */
  keep?: Nano
  /** Earlier debits in Postgres that Redis may lack. Each counts once. */
  debits: readonly { entryId: string; amount: Nano }[]
}
export type WithholdOutcome =
  | { kind: 'withheld'; available: Nano }
  | { kind: 'insufficient'; available: Nano }
  | { kind: 'unknown_account' }
/** `taken`: debited for ever. `returned`: available again. `undecided`: its transaction in Postgres has not ended. */
export type WithheldFate = 'taken' | 'returned' | 'undecided'

export type AccountBalance = {
  available: Nano
  held: Nano
  spent: Nano
  spentThisMonth: Nano
  status: AccountStatus
  /** The number of the last usage record; grows by one per record. */
  seq: number
}

export type AccountStatus = 'active' | 'suspended'
export type KeyStatus = 'active' | 'deactivated' | 'deleted'

/** Limits of a key; null = the catalogue's default limits (requests, tokens, concurrency) or none (budget, expiry, models). */
export type KeyLimits = Allowed & {
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  concurrency: number | null
  monthlyBudget: Nano | null
  /** Milliseconds since 1970. */
  expiresAtMs: number | null
}

/** Limits for all keys of an account together; null = the catalogue's limits. Only administrators raise them. */
export type AccountLimits = Pick<KeyLimits, 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency'>

export type AccountState = AccountLimits & { accountId: string; status: AccountStatus }

export type AccountSnapshot = AccountState & {
  /** Credits minus charges that have reached Postgres. */
  balance: Nano
  spent: Nano
  /** Charges of the calendar month `month`. */
  spentThisMonth: Nano
  /** Calendar month in UTC as yyyymm. */
  month: number
  seq: number
  /** Ledger entries whose credit is already in `balance`: a later `credit` of one of them answers `exists`. */
  creditedEntryIds: string[]
  budgets?: AccountBudgets
}

export type KeyState = Payer & KeyLimits & { status: KeyStatus } & KeyAccess

/** Properties of only some keys: rotated secrets, address lists, an owning member. */
type KeyAccess = {
  secrets?: KeySecrets | undefined
  addresses?: AddressLists | undefined
  ownerId?: string | null | undefined
}

export type KeyUsage = Omit<KeyState, 'addresses'> & {
  addressText: string
  open: number
  held: Nano
  spentThisMonth: Nano
}

export type KeySnapshot = KeyLimits &
  KeyAccess & {
    accountId: string
    keyId: string
    status: KeyStatus
    /** Charges of this key in the calendar month `month` (yyyymm, UTC). */
    spentThisMonth: Nano
    month: number
  }

/** The data that the ledger reads from Postgres. Implemented outside, so that the ledger doesn't depend on a database. */
export interface LedgerHistory {
  account(accountId: string): Promise<AccountSnapshot | undefined>
  key(accountId: string, keyId: string): Promise<KeySnapshot | undefined>
  /** Several accounts at once, in any order; unknown ones are omitted. */
  accounts(accountIds: string[]): Promise<AccountSnapshot[]>
  /** The `recordId`s of those usage records that are already in their account's `balance`. In any order. */
  knownRecordIds(recordIds: string[]): Promise<string[]>
  /** The ids of those holds that were settled in full, even if expired in Redis. */
  settledHoldIds(holdIds: string[]): Promise<string[]>
  /** Whether this entry was committed; `undecided` while a transaction changes the account; `absent` is final. */
  entryState(accountId: string, entryId: string): Promise<'recorded' | 'absent' | 'undecided'>
  /** All account ids in batches, for a rebuild. */
  accountIds(afterId: string, limit: number): Promise<string[]>
}

export type RecentRecord = {
  recordId: string
  model: string
  inputTokens: number
  outputTokens: number
  cost: Nano
  /** Uses of tools that ran at the provider, by name. */
  toolUses: Record<string, number>
  atMs: number
}
