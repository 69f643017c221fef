/** Handles reversals: credit is removed, or returned if the money was won back. An account below zero is suspended. */
import { and, eq, sql } from 'drizzle-orm'
import { administratorAddresses, writeMails } from '@/accounts/mails/outbox'
import { applyEntry } from '@/console/orders/apply'
import { formatCents } from '@/console/orders/cents'
import type { OrdersDeps } from '@/console/orders/deps'
import { MAX_EXTERNAL_ID_CHARS, MAX_PAYMENT_CENTS, MAX_REASON_CHARS } from '@/console/orders/limits'
import { appendEvent, lockOrder, optionalText, toOrder } from '@/console/orders/rows'
import type { BookedReversal, ReversalNotice, ReverseOutcome } from '@/console/orders/types'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { orders, reversals } from '@/db/orders-schema'
import { assert } from '@/lib/assert'
import { sha256Hex } from '@/lib/ids'
import { applyReversal, type ReversalRow, toReversal } from './apply-reversal'
import { type Moved, turnOf } from './moved'
import { suspendIfOwing } from './owing'

/** Books a reversal once per source and id. If the movement that it undoes is missing, the reversal waits. */
export async function reversePayment(deps: OrdersDeps, notice: ReversalNotice): Promise<ReverseOutcome> {
  const { amountCents, currency, externalId, undoes } = notice
  assert(Number.isInteger(amountCents) && amountCents > 0 && amountCents <= MAX_PAYMENT_CENTS, 'amount out of range')
  assert(/^[A-Za-z]{3}$/.test(currency), 'a currency has three letters')
  for (const id of [externalId, undoes])
    assert(id.length > 0 && id.length <= MAX_EXTERNAL_ID_CHARS, 'an external id is too long or empty')
  const { outcome, moved } = await deps.database.db.transaction((transaction) => record(deps, transaction, notice))
  for (const { credit } of moved) await applyEntry(deps, credit)
  // A repeated notice is checked too: at the first notice, the process may have died before this line.
  const accountId = outcome.reversal.kind === 'reinstatement' ? null : outcome.reversal.accountId
  const isSuspended =
    accountId !== null && outcome.reversal.movedCents > 0 && (await suspendIfOwing(deps, accountId, notice))
  return { ...outcome, isSuspended }
}

type Recorded = { outcome: BookedReversal; moved: Moved[] }

async function record(deps: OrdersDeps, transaction: Transaction, notice: ReversalNotice): Promise<Recorded> {
  const { source, externalId, undoes, kind } = notice
  const isReinstatement = kind === 'reinstatement'
  // Locks first this movement of money, then the movement that it undoes.
  for (const turn of [
    turnOf('reversal', source, externalId),
    turnOf(isReinstatement ? 'reversal' : 'payment', source, undoes),
  ])
    await transaction.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${turn}, 0))`)
  const isThis = and(eq(reversals.provider, source), eq(reversals.externalId, externalId))
  const earlier = await findRow(transaction, reversals, isThis)
  if (earlier) {
    const isSame = earlier.amountCents === notice.amountCents && earlier.currency === notice.currency.toUpperCase()
    return { outcome: { kind: 'duplicate', reversal: toReversal(earlier), isSame }, moved: [] }
  }
  const row = await insert(deps, transaction, notice)
  const applied = await applyReversal(deps, transaction, row, notice.actor)
  if (applied === undefined) {
    if (row.orderId !== null) await noteWaiting(deps, transaction, row, notice)
    await tellAdministrators(transaction, row)
    return { outcome: { kind: 'waiting', reversal: toReversal(row) }, moved: [] }
  }
  const { reversal, order, moved } = applied
  if (reversal.state === 'kept') {
    await tellAdministrators(transaction, reversal)
    return { outcome: { kind: 'kept', reversal: toReversal(reversal) }, moved }
  }
  const word = isReinstatement ? 'reinstated' : 'reversed'
  return { outcome: { kind: word, reversal: toReversal(reversal), order: toOrder(order) }, moved }
}

async function insert({ clock }: OrdersDeps, transaction: Transaction, notice: ReversalNotice): Promise<ReversalRow> {
  const { source, kind, externalId, undoes, paymentId, amountCents, currency, note } = notice
  const name = source.replace(/^deposit:/, '')
  const isTheirs = and(eq(orders.provider, name), eq(orders.payee, paymentId ?? ''))
  // The order is locked before payments and reversals, as in all transactions.
  const [order] = await transaction
    .select({ id: orders.id, accountId: orders.accountId })
    .from(orders)
    .where(isTheirs)
    .for('no key update')
  const [row] = await transaction
    .insert(reversals)
    .values({
      id: `rev_${sha256Hex(JSON.stringify([source, externalId])).slice(0, 32)}`,
      provider: source,
      externalId,
      kind,
      undoes,
      amountCents,
      state: 'waiting',
      orderId: order?.id ?? null,
      accountId: order?.accountId ?? null,
      currency: currency.toUpperCase(),
      note: optionalText(note, MAX_REASON_CHARS),
      receivedAt: new Date(clock.now()),
    })
    .returning()
  assert(row, 'an insert returns its row')
  return row
}

async function noteWaiting(
  { clock }: OrdersDeps,
  transaction: Transaction,
  { orderId, amountCents, kind }: ReversalRow,
  { actor }: ReversalNotice,
): Promise<void> {
  const order = await lockOrder(transaction, orderId ?? '')
  if (!order) return
  const event = { kind: 'reversal_kept', amountCents, note: `${kind} of a payment that is not credited` } as const
  await appendEvent(transaction, order, { event, actor, now: new Date(clock.now()) })
}

/** Mails administrators about a reversal that moves no credit, since a person must look. */
async function tellAdministrators(
  transaction: Transaction,
  { id, kind, amountCents, currency, undoes, orderId }: ReversalRow,
): Promise<void> {
  const amount = formatCents(amountCents)
  const facts = { reversal: kind, amount, currency, undoes, hasOrder: orderId === null ? 0 : 1 }
  const to = await administratorAddresses(transaction)
  await writeMails(transaction, { kind: 'idle_reversal', facts }, to, { eventId: `reversal:${id}` })
}
