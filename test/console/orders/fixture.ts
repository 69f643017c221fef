/** Orders over real stores, with a clock that a test turns. */
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { reconcileHistory } from '@/accounts/reconcile'
import type { DepositProvider } from '@/console/orders/deposits/deposit-provider'
import { createSandboxProvider, type SandboxProvider } from '@/console/orders/deposits/sandbox-deposit'
import { EXAMPLE_BANK, type OrdersDeps } from '@/console/orders/deps'
import { createOrders, type Orders } from '@/console/orders/orders'
import type { Actor, NewOrder, Order, PaymentNotice } from '@/console/orders/types'
import { type CheckReport, checkLedger } from '@/ledger/check/check'
import type { Clock } from '@/lib/clock'

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
export const DAY_MS = 86_400_000
/** Who sells in tests. */
export const SELLER = { name: 'Engines Ltd', address: null, vatId: null }
/** What `ORDER_MIN_USD` and `ORDER_MAX_USD` are unless set. */
export const AMOUNTS = { minimumCents: 500, maximumCents: 1_000_000 }
/** What `DEPOSIT_REVERSIBLE_DAYS` and its sibling are unless set. */
export const REVERSIBLE_DAYS = { deposit: 30, bankTransfer: 0 }

export const CUSTOMER: Actor = { kind: 'person', userId: 'user_1', email: 'customer@example.test', ip: '192.0.2.1' }
export const ADMINISTRATOR: Actor = { kind: 'person', userId: 'user_2', email: 'admin@example.test' }
export const STATEMENT: Actor = { kind: 'system', name: 'statement' }

type TestClock = Clock & { advance(milliseconds: number): void }

export type OrdersFixture = {
  fixture: Fixture
  clock: TestClock
  deps: OrdersDeps
  orders: Orders
  sandbox: SandboxProvider
  /** A new account's id. */
  account(): Promise<string>
  /** A pending order of `accountId`; of 50 USD by bank transfer unless said otherwise. */
  order(accountId: string, order?: Partial<NewOrder>): Promise<Order>
  /** What the account has: the ledger's word, the history's, and the sums its orders claim. */
  money(accountId: string): Promise<{ ledger: number; history: number; entries: number; paidLessRefunded: number }>
  /** Violations of the ledger and of the history, in total. */
  check(): Promise<CheckReport['violations']>
  close(): Promise<void>
}

/** Opens orders of a test file's own; `deposit` replaces the sandbox provider. */
export async function openOrders(options: { deposit?: DepositProvider } = {}): Promise<OrdersFixture> {
  const fixture = await openFixture(await redisUrl(), await freshDatabase())
  const clock = testClock()
  const sandbox = createSandboxProvider(async () => [SECRET], clock)
  const { database, ledger } = fixture
  const methods = { bankTransfer: EXAMPLE_BANK, deposit: options.deposit ?? sandbox }
  const deps = {
    database,
    ledger,
    clock,
    logger: silentLogger,
    methods,
    amounts: AMOUNTS,
    reversibleDays: REVERSIBLE_DAYS,
    seller: SELLER,
  }
  const orders = createOrders(deps)
  return {
    fixture,
    clock,
    deps,
    orders,
    sandbox,
    account: () => createTestAccount(fixture),
    async order(accountId, order = {}) {
      const wanted = { accountId, method: 'bank_transfer', amountCents: 5_000, actor: CUSTOMER, ...order } as const
      const outcome = await orders.create(wanted)
      if (outcome.kind !== 'created') throw new Error(outcome.kind)
      return outcome.order
    },
    money: (accountId) => moneyOf(fixture, accountId),
    async check() {
      const found = await reconcileHistory(database, 'records')
      const report = await checkLedger({ ...fixture, logger: silentLogger })
      const own = await ownAccounts(fixture)
      // The store is shared with other test files, whose accounts this history doesn't know.
      return [...found.violations, ...report.violations.filter(({ accountId }) => accountId && own.has(accountId))]
    },
    close: fixture.close,
  }
}

/** A clock that stands at noon until it is advanced. */
export function testClock(): TestClock {
  let now = Date.UTC(2026, 10, 21, 12)
  return {
    now: () => now,
    monotonic: () => now,
    advance(milliseconds) {
      now += milliseconds
    },
  }
}

/** What a bank statement says of a payment that fits `order`. */
export function noticeOf(order: Order, changes: Partial<PaymentNotice> = {}): PaymentNotice {
  return {
    source: order.provider === null ? 'bank' : `deposit:${order.provider}`,
    externalId: crypto.randomUUID(),
    reference: order.reference,
    amountCents: order.amountCents,
    currency: 'USD',
    actor: STATEMENT,
    ...changes,
  }
}

async function moneyOf({ database, ledger }: Fixture, accountId: string) {
  const [row] = await database.sql<{ history: number; entries: number; claimed: number }[]>`
    SELECT a.balance_nano::bigint AS history,
      (SELECT coalesce(sum(amount_nano), 0)::bigint FROM ledger_entries WHERE account_id = a.id) AS entries,
      (SELECT coalesce(sum(paid_cents - refunded_cents - charged_back_cents), 0)::bigint FROM orders WHERE account_id = a.id) AS claimed
    FROM accounts a WHERE id = ${accountId}`
  const balance = await ledger.readBalance(accountId)
  if (!row || !balance) throw new Error('no such account')
  const cents = (amount: number) => amount / 10_000_000
  return {
    ledger: cents(balance.available + balance.held),
    history: cents(row.history),
    entries: cents(row.entries),
    paidLessRefunded: row.claimed,
  }
}

async function ownAccounts({ database }: Fixture): Promise<Set<string>> {
  const rows = await database.sql<{ id: string }[]>`SELECT id FROM accounts`
  return new Set(rows.map(({ id }) => id))
}
