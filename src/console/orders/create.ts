/** Creates orders: within the limits, with a unique reference and, for deposits, with a payment at the provider. */
import { and, eq, gt, sql } from 'drizzle-orm'
import { isBeingCharged } from '@/console/orders/auto-top-up/failed-charge'
import type { DepositPayment, DepositProvider } from '@/console/orders/deposits/deposit-provider'
import type { Transaction } from '@/db/client'
import { describeFailure } from '@/db/failure'
import { orders } from '@/db/orders-schema'
import { accounts } from '@/db/schema'
import { assert } from '@/lib/assert'
import { withDeadline } from '@/lib/deadline'
import { randomId } from '@/lib/ids'
import { formatCents } from './cents'
import type { OrdersDeps } from './deps'
import { BANK_TRANSFER_LIFETIME_MS, MAX_OPEN_ORDERS, MAX_ORDERS_PER_DAY } from './limits'
import { newReference } from './reference'
import { appendEvent, auditPerson, changeOrder, lockOrder, type OrderRow, toOrder } from './rows'
import type { Actor, CreateOutcome, NewOrder, SetUpOutcome } from './types'

/** How long a provider may take to set a payment up. */
const PROVIDER_TIMEOUT_MS = 15_000
const DAY_MS = 86_400_000

/** Creates a pending order. The order is stored before the provider is called, so that every payment has an order. */
export async function createOrder(deps: OrdersDeps, order: NewOrder): Promise<CreateOutcome> {
  const { amountCents, method } = order
  const { minimumCents, maximumCents } = deps.amounts
  if (!Number.isInteger(amountCents) || amountCents < minimumCents || amountCents > maximumCents) {
    return { kind: 'amount_out_of_range', minimumCents, maximumCents }
  }
  const { deposit, bankTransfer } = deps.methods
  if (method === 'deposit' ? !deposit : !bankTransfer) return { kind: 'method_unavailable' }
  const stored = await deps.database.db.transaction((transaction) => store(deps, transaction, order))
  if (stored.kind !== 'stored') return stored
  if (method !== 'deposit' || !deposit) return { kind: 'created', order: toOrder(stored.row) }
  const payment = await askProvider(deps, deposit, stored, order.returnUrl)
  if (payment) return { kind: 'created', order: toOrder(payment) }
  return { kind: 'provider_failed', order: toOrder(await giveUp(deps, deposit, stored.row.id)) }
}

/** Creates the payment of a pending order if the gateway died before that. The provider recognizes the order and creates only one. */
export async function setUpPayment(
  deps: OrdersDeps,
  { orderId, accountId, returnUrl }: { orderId: string; accountId: string; returnUrl: string },
): Promise<SetUpOutcome> {
  const [found] = await deps.database.db
    .select({ row: orders, email: accounts.email })
    .from(orders)
    .innerJoin(accounts, eq(accounts.id, orders.accountId))
    .where(and(eq(orders.id, orderId), eq(orders.accountId, accountId)))
  const { deposit } = deps.methods
  if (!found || !deposit || found.row.provider !== deposit.name) return { kind: 'not_found' }
  if (found.row.state !== 'pending') return { kind: 'not_pending', order: toOrder(found.row) }
  if (found.row.payee !== null) return { kind: 'set_up', order: toOrder(found.row) }
  if (isBeingCharged(found.row)) return { kind: 'payment_under_way' }
  const row = await askProvider(deps, deposit, { ...found, row: await shorten(deps, found.row) }, returnUrl)
  return row ? { kind: 'set_up', order: toOrder(row) } : { kind: 'provider_failed' }
}

/** The order of an auto top-up is open for longer than the provider's payment page. Ends the order when the page closes. */
async function shorten({ database, clock, methods }: OrdersDeps, row: OrderRow): Promise<OrderRow> {
  if (row.card === null || !methods.deposit) return row
  const latest = new Date(clock.now() + methods.deposit.lifetimeMs).toISOString()
  const [shorter] = await database.db
    .update(orders)
    .set({ expiresAt: sql`least(${orders.expiresAt}, ${latest}::timestamptz)` })
    .where(eq(orders.id, row.id))
    .returning()
  assert(shorter, 'an order that was just read exists')
  return shorter
}

type Stored =
  | { kind: 'stored'; row: OrderRow; email: string }
  | Exclude<CreateOutcome, { kind: 'created' | 'provider_failed' }>

async function store(deps: OrdersDeps, transaction: Transaction, order: NewOrder): Promise<Stored> {
  const { accountId, actor, amountCents } = order
  // The lock lets only one order of an account be counted and created at a time.
  await transaction.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`orders ${accountId}`}, 0))`)
  const [account] = await transaction.select({ email: accounts.email }).from(accounts).where(eq(accounts.id, accountId))
  if (!account) return { kind: 'unknown_account' }
  const now = new Date(deps.clock.now())
  const isMine = eq(orders.accountId, accountId)
  const open = await transaction.$count(orders, and(isMine, eq(orders.state, 'pending'), gt(orders.expiresAt, now)))
  if (open >= MAX_OPEN_ORDERS) return { kind: 'too_many_open', limit: MAX_OPEN_ORDERS }
  const recent = await transaction.$count(orders, and(isMine, gt(orders.createdAt, new Date(now.getTime() - DAY_MS))))
  if (recent >= MAX_ORDERS_PER_DAY) return { kind: 'too_many_today', limit: MAX_ORDERS_PER_DAY }
  const row = await insertOrder(deps, transaction, order, now)
  await appendEvent(transaction, row, { event: { kind: 'created', amountCents }, actor, now })
  await auditPerson(transaction, {
    actor,
    action: 'order.create',
    subject: row.id,
    accountId,
    details: { reference: row.reference, method: row.method, amountUsd: formatCents(amountCents) },
  })
  return { kind: 'stored', row, email: account.email }
}

type NewRow = Omit<typeof orders.$inferInsert, 'id' | 'reference'>

function valuesOf(
  { methods }: OrdersDeps,
  { accountId, method, amountCents }: Pick<NewOrder, 'accountId' | 'method' | 'amountCents'>,
  now: Date,
): NewRow {
  const lifetimeMs = (method === 'deposit' && methods.deposit?.lifetimeMs) || BANK_TRANSFER_LIFETIME_MS
  const bank = methods.bankTransfer
  const paidTo =
    method === 'deposit'
      ? { provider: methods.deposit?.name }
      : { payee: bank?.iban, paymentAccount: bank?.iban, bankDetails: bank }
  return {
    accountId,
    method,
    ...paidTo,
    amountCents,
    currency: 'USD',
    state: 'pending',
    createdAt: now,
    expiresAt: new Date(now.getTime() + lifetimeMs),
    updatedAt: now,
  }
}

/** Stores an order. Draws references until one is free. */
export async function insertOrder(
  deps: OrdersDeps,
  transaction: Transaction,
  order: Pick<NewOrder, 'accountId' | 'method' | 'amountCents'>,
  now: Date,
  more: Pick<NewRow, 'origin' | 'card' | 'lookAt'> = {},
): Promise<OrderRow> {
  const values = { ...valuesOf(deps, order, now), ...more }
  for (;;) {
    const [row] = await transaction
      .insert(orders)
      .values({ ...values, id: randomId('order'), reference: newReference() })
      .onConflictDoNothing({ target: orders.reference })
      .returning()
    if (row) return row
  }
}

async function askProvider(
  deps: OrdersDeps,
  provider: DepositProvider,
  { row, email }: { row: OrderRow; email: string },
  returnUrl: string | undefined,
): Promise<OrderRow | undefined> {
  const { id: orderId, reference, amountCents, currency, expiresAt } = row
  try {
    const asked = provider.createPayment({
      ...{ orderId, reference, amountCents, currency, expiresAt, email },
      returnUrl: returnUrl === undefined ? undefined : `${returnUrl}${orderId}`,
    })
    const payment = await withDeadline(asked, PROVIDER_TIMEOUT_MS, () => {
      throw new Error(`no answer in ${PROVIDER_TIMEOUT_MS} ms`)
    })
    return await notePayment(deps, row, payment)
  } catch (error) {
    deps.logger.warn('deposit_not_set_up', { orderId, provider: provider.name, reason: describeFailure(error) })
    return undefined
  }
}

async function notePayment(
  { database, methods }: OrdersDeps,
  { id, expiresAt }: OrderRow,
  payment: DepositPayment,
): Promise<OrderRow> {
  const lookAt = methods.deposit?.inquiry ? expiresAt : null
  const [row] = await database.db
    .update(orders)
    .set({ payee: payment.paymentId, paymentUrl: payment.url, paymentAccount: payment.account, lookAt })
    .where(eq(orders.id, id))
    .returning()
  assert(row, 'an order that was just stored exists')
  return row
}

async function giveUp({ database, clock }: OrdersDeps, provider: DepositProvider, orderId: string): Promise<OrderRow> {
  const actor: Actor = { kind: 'system', name: provider.name }
  return await database.db.transaction(async (transaction) => {
    const row = await lockOrder(transaction, orderId)
    assert(row, 'an order that was just stored exists')
    if (row.state !== 'pending') return row
    const event = { kind: 'cancelled', note: 'The provider could not set the payment up.' } as const
    return changeOrder(transaction, orderId, {
      set: { state: 'cancelled' },
      event,
      actor,
      now: new Date(clock.now()),
    })
  })
}
