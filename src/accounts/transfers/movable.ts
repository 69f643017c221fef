/**
 * Computes the movable credit: the balance without credit that payers can still take back. Spending reduces the movable part first.
 */
import { and, eq, gt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { orders, payments } from '@/db/orders-schema'
import type { Ledger } from '@/ledger/ledger'
import { formatUsd, type Nano, nano, ZERO_NANO } from '@/lib/money'

/** The payer can take `amount` back until `until`. */
type ReversibleCredit = { amount: Nano; until: Date }

/** `movable`: now. `later`: further amounts and the time from which each can be moved, earliest first. */
export type MovableCredit = { movable: Nano; later: { amount: Nano; from: Date }[] }

const NANO_PER_CENT = 10_000_000
const MINUTE_MS = 60_000

/** The account's payments that payers can still take back, less the refunds and chargebacks of their orders. */
export async function reversibleCredit(
  transaction: Pick<Transaction, 'select'>,
  accountId: string,
): Promise<ReversibleCredit[]> {
  const rows = await transaction
    .select({
      orderId: orders.id,
      cents: payments.creditedCents,
      leftCents: sql<string>`${orders.paidCents} - ${orders.refundedCents} - ${orders.chargedBackCents}`,
      until: payments.reversibleUntil,
    })
    .from(payments)
    .innerJoin(orders, eq(orders.id, payments.orderId))
    .where(and(eq(orders.accountId, accountId), gt(payments.reversibleUntil, sql`now()`)))
  const leftOf = new Map(rows.map(({ orderId, leftCents }) => [orderId, Math.max(Number(leftCents), 0)]))
  const newestFirst = rows
    .flatMap(({ until, ...row }) => (until ? [{ ...row, until }] : []))
    .toSorted((one, other) => other.until.getTime() - one.until.getTime())
  return newestFirst.flatMap(({ orderId, cents, until }) => {
    const left = leftOf.get(orderId) ?? 0
    const taken = Math.min(cents, left)
    leftOf.set(orderId, left - taken)
    return taken > 0 ? [{ amount: nano(taken * NANO_PER_CENT), until }] : []
  })
}

/** The credit that can be moved out of an account, now and later. Throws if Redis or Postgres is unreachable. */
export async function readMovable({ db }: Database, ledger: Ledger, accountId: string): Promise<MovableCredit> {
  const balance = await ledger.readBalance(accountId)
  return movableOf(balance?.available ?? ZERO_NANO, await reversibleCredit(db, accountId))
}

/** The sum of the amounts. */
export function sumOf(reversible: readonly ReversibleCredit[]): Nano {
  return nano(reversible.reduce((sum, { amount }) => sum + amount, 0))
}

/** The parts of `available` that can be moved now and later. */
export function movableOf(available: Nano, reversible: readonly ReversibleCredit[]): MovableCredit {
  let bound = sumOf(reversible)
  const free = () => Math.max(Math.max(available, 0) - bound, 0)
  const movable = nano(free())
  let known: number = movable
  const later: MovableCredit['later'] = []
  for (const { amount, until } of reversible.toSorted((one, other) => one.until.getTime() - other.until.getTime())) {
    bound = nano(bound - amount)
    const more = nano(free() - known)
    known += more
    const last = later.at(-1)
    if (last?.from.getTime() === until.getTime()) last.amount = nano(last.amount + more)
    else if (more > ZERO_NANO) later.push({ amount: more, from: until })
  }
  return { movable, later }
}

/** A sentence or two: how much can leave the account now, and when the rest can. */
export function movableWords({ movable, later }: MovableCredit): string {
  const parts = later.map(({ amount, from }) => `${formatUsd(amount)} USD from ${minuteOf(from)} on`)
  return `Only ${formatUsd(movable)} USD can leave the account now: the payer can still take back the rest. ${parts.join(', ')}.`
}

/** `moment`, rounded up to the minute. */
function minuteOf(moment: Date): string {
  const minute = new Date(Math.ceil(moment.getTime() / MINUTE_MS) * MINUTE_MS)
  return `${minute.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
