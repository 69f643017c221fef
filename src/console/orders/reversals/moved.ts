/** What reversals have in common: who takes turns, and how much credit a part of a payment stands for. */
import { eq } from 'drizzle-orm'
import type { Transaction } from '@/db/client'
import { reversals } from '@/db/orders-schema'
import type { Credit } from '@/ledger/outcomes'

/** An entry of the history that the ledger has to hear of after the commit. */
export type Moved = { credit: Credit }

type ReversalRow = typeof reversals.$inferSelect

/** What notices of one movement of money lock, whichever of them comes first. */
export function turnOf(thing: 'payment' | 'reversal', source: string, externalId: string): string {
  return `${thing} ${source} ${externalId}`
}

/** The part of `whole` that `amount` is of `total`; all that is left of it once nothing of `total` is. */
export function shareOf(whole: number, amount: number, total: number, left: { whole: number; total: number }): number {
  if (amount >= left.total) return left.whole
  return Math.min(left.whole, Math.floor((whole * amount) / total))
}

/** What was taken back of a payment by now, in its own currency and in credit: chargebacks and refunds less reinstatements. */
export function takenBackOf(rows: readonly ReversalRow[]): { amountCents: number; creditCents: number } {
  const applied = rows.filter(({ state }) => state === 'applied')
  const signed = (row: ReversalRow, value: number) => (row.kind === 'reinstatement' ? -value : value)
  return {
    amountCents: applied.reduce((sum, row) => sum + signed(row, row.amountCents), 0),
    creditCents: applied.reduce((sum, row) => sum + signed(row, row.movedCents + row.matchedCents), 0),
  }
}

/** What an administrator has refunded of the order and no provider has told of yet: the next notices of refunds are those. */
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
