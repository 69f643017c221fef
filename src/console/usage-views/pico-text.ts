/** Amounts finer than a nano-USD as exact decimal text, for the lines of a record before rounding. */
import { isPerMillion, type Unit } from '@/chat/units'

const PICO_DIGITS = 12
const PRICE_DIGITS = 6

/** The price of `count` units at `price` pico-USD each, in USD with at most twelve decimals, such as `0.0000001005`. */
export function formatLineAmount(count: number, price: number): string {
  return decimal(BigInt(count) * BigInt(price), PICO_DIGITS)
}

/** A price in pico-USD per unit as USD, such as `2.5`. Tokens and characters: for a million of them; other units: for one. */
export function formatUnitPrice(price: number, unit: Unit): string {
  return decimal(BigInt(price), isPerMillion(unit) ? PRICE_DIGITS : PICO_DIGITS)
}

/** The amount that is added when the sum of the lines is rounded up to whole nano-USD. */
export function formatRounding(lines: readonly { count: number; price: number }[], totalNano: number): string {
  const exact = lines.reduce((sum, { count, price }) => sum + BigInt(count) * BigInt(price), 0n)
  return decimal(BigInt(totalNano) * 1000n - exact, PICO_DIGITS)
}

function decimal(value: bigint, digits: number): string {
  const magnitude = value < 0n ? -value : value
  const scale = 10n ** BigInt(digits)
  const fraction = String(magnitude % scale)
    .padStart(digits, '0')
    .replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${magnitude / scale}${fraction === '' ? '' : `.${fraction}`}`
}
