/** Whole US cents, the unit of orders, and their conversion to nano-USD and to decimal text. */
import { assert } from '@/lib/assert'
import { formatUsd, type Nano, nano, parseUsd } from '@/lib/money'

const NANO_PER_CENT = 10_000_000

/** Asserts that `cents` is an integer within ±900,000,000 (9,000,000 USD). */
export function centsToNano(cents: number): Nano {
  assert(Number.isSafeInteger(cents), `no whole cents: ${cents}`)
  return nano(cents * NANO_PER_CENT)
}

/** Decimal USD without trailing zeros, e.g. `12.5`. */
export function formatCents(cents: number): string {
  return formatUsd(centsToNano(cents))
}

/** Reads decimal USD; undefined if the text is no amount, has parts of a cent, or is out of the ledger's range. */
export function parseCents(text: string): number | undefined {
  const amount = parseUsd(text)
  if (amount === undefined || amount % NANO_PER_CENT !== 0) return undefined
  return amount / NANO_PER_CENT
}
