/** Functions that all reversals share: their lock, and the credit for a part of a payment. */
import { eq } from 'drizzle-orm'
import type { Transaction } from '@/db/client'
import { reversals } from '@/db/orders-schema'
import type { Credit } from '@/ledger/outcomes'

/** An entry in Postgres to send to the ledger after the commit. */
export type Moved = { credit: Credit }

type ReversalRow = typeof reversals.$inferSelect

/** The name of the lock that all notices of the same movement of money take. */
export function turnOf(thing: 'payment' | 'reversal', source: string, externalId: string): string {
  return `${thing} ${source} ${externalId}`
}

/** The part of `whole` that corresponds to `amount` of `total`; at most `whole`. */
export function shareOf(whole: number, amount: number, total: number): number {
  return amount >= total ? whole : Math.floor((whole * amount) / total)
}

/** The sum of a payment's reversals, each minus its reinstatements, in the payment's own currency. */
export function standingCents(rows: readonly ReversalRow[]): number {
  const undoneCents = new Map<string, number>()
  for (const { kind, undoes, amountCents } of rows)
    if (kind === 'reinstatement') undoneCents.set(undoes, (undoneCents.get(undoes) ?? 0) + amountCents)
  return rows
    .filter(({ kind }) => kind !== 'reinstatement')
    .reduce(
      (sum, { externalId, amountCents }) => sum + Math.max(amountCents - (undoneCents.get(externalId) ?? 0), 0),
      0,
    )
}

/** The credit taken back for a payment up to now: chargebacks and refunds minus reinstatements. */
export function creditTakenBack(rows: readonly ReversalRow[]): number {
  return rows
    .filter(({ state }) => state === 'applied')
    .reduce((sum, row) => sum + (row.kind === 'reinstatement' ? -1 : 1) * (row.movedCents + row.matchedCents), 0)
}

/** Administrators' refunds of the order that the provider has not yet reported. The next reports are matched with them. */
export async function awaitedRefunds(
  transaction: Transaction,
  orderId: string,
  refundedCents: number,
): Promise<number> {
  const rows = await transaction.select().from(reversals).where(eq(reversals.orderId, orderId))
  const byId = new Map(rows.map((row) => [row.externalId, row]))
  let told = 0
  for (const row of rows.filter(({ state }) => state === 'applied')) {
    if (row.kind === 'refund') told += row.movedCents + row.matchedCents
    if (row.kind === 'reinstatement' && byId.get(row.undoes)?.kind === 'refund') told -= row.movedCents
  }
  return Math.max(refundedCents - told, 0)
}
