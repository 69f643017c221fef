/** What the model knows of an account: its holds, its charges wherever they are, its orders and its budgets. */

export const WINDOWS = ['day', 'week', 'month', 'total'] as const
export type Window = (typeof WINDOWS)[number]
type Limit = { limit: number; grant: number; grantAt: number }

/** Limits of one scope, which the ledger knows by `account`, `member:…` or `key:…`. */
type ModelBudgets = {
  scopes: Map<string, Partial<Record<Window, Limit>>>
  /** Budgets of the month that are limits of keys, by key. */
  monthOfKey: Map<string, number>
  /** Whose each key is; '' for nobody. */
  owners: Map<string, string>
}

type ModelHold = {
  keyId: string
  /** Whose the key was when it was made; '' for nobody. */
  member: string
  amount: number
  inputCost: number
  state: 'open' | 'settled' | 'released' | 'expired'
  /** What the last renewal recorded; once it has expired, what that cost. */
  cost: number
  isReached: boolean
  isDue: boolean
}

/** A charge on its way to the history, or in it. */
type ModelRecord = {
  cost: number
  kind: 'settle' | 'expire' | 'late'
  keyId: string
  /** '' for nobody. */
  member: string
  atMs: number
}

/** What Redis alone knows, and forgets with its last seconds. */
export type Hot = { holds: Map<string, ModelHold>; stream: Map<string, ModelRecord> }

type ModelReversal = { amountCents: number; wonCents: number }
export type ModelOrder = {
  paidCents: number
  refundedCents: number
  takenCents: number
  /** A deposit, which its payer can take back: no sequence lasts as long as that. */
  isReversible: boolean
  /** The rest was refunded: nothing is any more, whatever comes back of chargebacks. */
  isClosed: boolean
  reversals: ModelReversal[]
}

export type ModelAccount = Hot & {
  /** The store's clock. */
  clock: { now(): number }
  /** The sum of all ledger entries. */
  credited: number
  books: Map<string, ModelRecord>
  isSuspended: boolean
  /** Money was taken back, and nobody has decided on the account since. */
  isDoubted: boolean
  orders: Map<string, ModelOrder>
  /** Orders that nobody has agreed to pay. */
  openOrders: number
  budgets: ModelBudgets
}

/** An account without credit and keys. */
export function newAccount(clock: ModelAccount['clock']): ModelAccount {
  const hot = { holds: new Map(), stream: new Map() }
  return {
    ...hot,
    clock,
    credited: 0,
    books: new Map(),
    isSuspended: false,
    isDoubted: false,
    orders: new Map(),
    openOrders: 0,
    budgets: { scopes: new Map(), monthOfKey: new Map(), owners: new Map() },
  }
}

/** Every charge, wherever its record is. */
export function standingRecords({ stream, books }: ModelAccount): Iterable<ModelRecord> {
  return new Map([...accepted(stream, books), ...books]).values()
}

/** A late charge of what the history has as settled in full is a second one, which it does not take: its store was rewound twice. */
export function accepted(stream: ReadonlyMap<string, ModelRecord>, books: ReadonlyMap<string, ModelRecord>) {
  const isSecond = (recordId: string) => books.get(recordId.replace(/:late$/, ''))?.kind === 'settle'
  return [...stream].filter(([recordId, { kind }]) => kind !== 'late' || !isSecond(recordId))
}
