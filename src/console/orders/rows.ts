/** Rows of orders and payments: how they are locked, changed together with their events, and read back. */
import { eq, sql } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import type { Transaction } from '@/db/client'
import { type OrderEventKind, orderEvents, orders, type payments } from '@/db/orders-schema'
import { assert } from '@/lib/assert'
import { randomId } from '@/lib/ids'
import type { Actor, Order, OrderEvent, Payment } from './types'

export type OrderRow = typeof orders.$inferSelect
export type PaymentRow = typeof payments.$inferSelect

/**
 * Reads an order and locks its row until the transaction ends. Other transactions may still insert rows that refer to it: a stronger lock
 * could deadlock two of them.
 */
export async function lockOrder(transaction: Transaction, orderId: string): Promise<OrderRow | undefined> {
  const [row] = await transaction.select().from(orders).where(eq(orders.id, orderId)).for('no key update')
  return row
}

type OrderChange = {
  set: Partial<OrderRow>
  event: { kind: OrderEventKind; amountCents?: number; entryId?: string; note?: string }
  actor: Actor
  now: Date
}

/** Changes a locked order and writes its event. */
export async function changeOrder(transaction: Transaction, orderId: string, change: OrderChange): Promise<OrderRow> {
  const [row] = await transaction
    .update(orders)
    .set({ ...change.set, updatedAt: change.now })
    .where(eq(orders.id, orderId))
    .returning()
  assert(row, 'a locked order exists')
  await appendEvent(transaction, row, change)
  return row
}

/** Writes the next event of an order. This transaction must have locked the order. */
export async function appendEvent(
  transaction: Transaction,
  order: OrderRow,
  { event, actor, now }: Omit<OrderChange, 'set'>,
): Promise<void> {
  await transaction.insert(orderEvents).values({
    id: randomId('oevt'),
    orderId: order.id,
    position: sql`(SELECT coalesce(max(position), 0) + 1 FROM order_events WHERE order_id = ${order.id})`,
    kind: event.kind,
    state: order.state,
    amountCents: event.amountCents ?? null,
    entryId: event.entryId ?? null,
    actor: actorName(actor),
    note: event.note ?? null,
    createdAt: now,
  })
}

type OrderAudit = {
  actor: Actor
  action: string
  subject: string
  accountId: string | null
  details: Record<string, string | number | boolean | null>
}

/** Writes the audit entry of a person's action, as the last step of the transaction. Automatic actions are only in the order's events. */
export async function auditPerson(transaction: Transaction, { actor, ...entry }: OrderAudit): Promise<void> {
  if (actor.kind !== 'person') return
  const { userId, email, ip, requestId } = actor
  await recordAudit(transaction, {
    ...entry,
    actor: { userId, email },
    ...(ip !== undefined && { ip }),
    ...(requestId !== undefined && { requestId }),
  })
}

/** The name of an actor in events: an address, or a system name. */
export function actorName(actor: Actor): string {
  return actor.kind === 'person' ? actor.email : actor.name
}

const NUL = String.fromCharCode(0)

/** An external text in a form that the database can store: complete characters, no NUL, at most `maxChars`. */
export function storableText(text: string, maxChars: number): string {
  return text.replaceAll(NUL, '').slice(0, maxChars).toWellFormed()
}

/** Like {@link storableText}, with null for undefined and empty texts. */
export function optionalText(text: string | undefined, maxChars: number): string | null {
  return text === undefined || text === '' ? null : storableText(text, maxChars)
}

/** The order without internal columns. */
export function toOrder(row: OrderRow): Order {
  const { id, payee, lookAt, card, ...rest } = row
  return { orderId: id, ...rest, card: card && { brand: card.brand, lastFour: card.lastFour } }
}

/** Converts a payment's row to a `Payment`, which has other field names. */
export function toPayment(row: PaymentRow): Payment {
  const { id, provider, noticeText, entryId, ...rest } = row
  return { paymentId: id, source: provider, text: noticeText, ...rest }
}

/** Converts an event's row to an `OrderEvent`, which has other field names. */
export function toEvent(row: typeof orderEvents.$inferSelect): OrderEvent {
  const { id, kind, state, amountCents, actor, note, createdAt } = row
  return { eventId: id, kind, state, amountCents, actor, note, createdAt }
}
