/** Amounts finer than a nano-USD as exact decimal text, for the token classes of a record before rounding. */

const PICO_DIGITS = 12
const PRICE_DIGITS = 6

/** The price of `tokens` at `price` pico-USD each, in USD with at most twelve decimals, such as `0.0000001005`. */
export function formatClassAmount(tokens: number, price: number): string {
  return decimal(BigInt(tokens) * BigInt(price), PICO_DIGITS)
}

/** A price in pico-USD per token as USD per million tokens, such as `2.5`. */
export function formatUnitPrice(price: number): string {
  return decimal(BigInt(price), PRICE_DIGITS)
}

/** The amount added by rounding the sum of the lines up to a nano-USD. */
export function formatRounding(lines: readonly { tokens: number; price: number }[], totalNano: number): string {
  const exact = lines.reduce((sum, { tokens, price }) => sum + BigInt(tokens) * BigInt(price), 0n)
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
