/** Money as integers: nano-USD for amounts, pico-USD per token for prices. Decimal USD exists only in input and output. */
import { assert } from './assert'

declare const nanoBrand: unique symbol
declare const picoBrand: unique symbol

/** An amount in nano-USD (10⁻⁹ USD): an integer of at most ±{@link MAX_NANO}. */
export type Nano = number & { readonly [nanoBrand]: true }
/** A price in pico-USD (10⁻¹² USD) per token or other unit: a non-negative integer of at most {@link MAX_PICO_PER_UNIT}. */
export type Pico = number & { readonly [picoBrand]: true }

export const NANO_PER_USD = 1_000_000_000
/** The maximum for one account or one request: 9,000,000 USD, which is below 2⁵³ nano-USD. */
export const MAX_NANO = 9_000_000 * NANO_PER_USD
/** The maximum price in a catalogue: 1 USD per token. */
export const MAX_PICO_PER_TOKEN = 1_000_000_000_000
/** The maximum price of a unit other than a token, such as an image: 1,000 USD. */
const MAX_PICO_PER_UNIT = 1_000_000_000_000_000
const PICO_PER_USD = 1_000_000_000_000
const PICO_PER_NANO = 1000n
/** 1 USD per 1,000,000 tokens in pico-USD per token. */
const PICO_PER_TOKEN_IN_USD_PER_1M = 1_000_000
const DECIMAL_USD = /^(-?)(\d{1,8})(?:\.(\d{1,9}))?$/

export const ZERO_NANO = 0 as Nano

/** Brands an integer as nano-USD. Asserts that it is an integer within ±{@link MAX_NANO}. */
export function nano(value: number): Nano {
  // Checked before the assertion, so that its message isn't built each time.
  if (!Number.isSafeInteger(value) || Math.abs(value) > MAX_NANO) assert(false, `amount out of range: ${value}`)
  return value as Nano
}

/** Parses decimal USD such as `10.5` exactly; undefined if it has more than nine decimals or is out of range. */
export function parseUsd(text: string): Nano | undefined {
  const match = DECIMAL_USD.exec(text)
  if (!match) return undefined
  const fraction = (match[3] ?? '').padEnd(9, '0')
  const magnitude = Number(match[2]) * NANO_PER_USD + Number(fraction)
  if (magnitude > MAX_NANO) return undefined
  return nano(match[1] === '-' && magnitude > 0 ? -magnitude : magnitude)
}

/** The amount in USD as a JSON number, only for output. */
export function nanoToUsd(amount: Nano): number {
  return amount / NANO_PER_USD
}

/** The amount as exact decimal text with up to nine decimals and no trailing zeros, for example `10.5`. */
export function formatUsd(amount: Nano): string {
  const magnitude = Math.abs(amount)
  const whole = Math.floor(magnitude / NANO_PER_USD)
  const fraction = String(magnitude % NANO_PER_USD)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${amount < 0 ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`
}

/** A sum over many accounts in nano-USD as exact decimal USD text; it may exceed {@link MAX_NANO}. */
export function formatTotalUsd(amount: bigint): string {
  const magnitude = amount < 0n ? -amount : amount
  const fraction = String(magnitude % BigInt(NANO_PER_USD))
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${magnitude / BigInt(NANO_PER_USD)}${fraction ? `.${fraction}` : ''}`
}

/** USD per 1,000,000 tokens in pico-USD per token; undefined if negative, not finite, too precise or out of range. */
export function priceToPico(usdPer1mTokens: number): Pico | undefined {
  return toPico(usdPer1mTokens, PICO_PER_TOKEN_IN_USD_PER_1M, MAX_PICO_PER_TOKEN)
}

/** USD per unit, such as an image, in pico-USD; undefined if negative, not finite, too precise or above 1,000 USD. */
export function unitPriceToPico(usd: number): Pico | undefined {
  return toPico(usd, PICO_PER_USD, MAX_PICO_PER_UNIT)
}

function toPico(usd: number, scale: number, most: number): Pico | undefined {
  // Adding zero turns minus zero, which JSON allows, into zero.
  const pico = Math.round(usd * scale) + 0
  if (!Number.isFinite(usd) || pico < 0 || pico > most) return undefined
  if (Math.abs(pico / scale - usd) > Math.abs(usd) * 1e-12) return undefined
  return pico as Pico
}

/** The price in USD per 1,000,000 tokens as exact decimal text, for example `0.25`. */
export function formatPrice(price: Pico): string {
  const fraction = String(price % PICO_PER_TOKEN_IN_USD_PER_1M)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${Math.floor(price / PICO_PER_TOKEN_IN_USD_PER_1M)}${fraction ? `.${fraction}` : ''}`
}

/** The price in USD per token or other unit as exact decimal text, for example `0.00000025`. */
export function formatTokenPrice(price: Pico): string {
  const digits = String(price).padStart(13, '0')
  const fraction = digits.slice(-12).replace(/0+$/, '')
  return digits.slice(0, -12) + (fraction ? `.${fraction}` : '')
}

/**
 * ⌈Σ tokensᵢ × priceᵢ / 1000⌉ nano-USD: the only place that converts tokens to money, rounded up once per request. Each count has its
 * price. Asserts that every count is a non-negative integer. Results are at most {@link MAX_NANO}, so that an absurd request does not
 * overflow: it is too expensive for every account.
 */
export function costNano(counts: readonly number[], prices: readonly Pico[]): Nano {
  let exact = 0
  for (let index = 0; index < counts.length; index++) {
    const tokens = counts[index] as number
    if (!Number.isSafeInteger(tokens) || tokens < 0) assert(false, `token count out of range: ${tokens}`)
    exact += tokens * (prices[index] as Pico)
  }
  if (exact <= Number.MAX_SAFE_INTEGER) return nano(Math.ceil(exact / 1000))
  let total = 0n
  for (const [index, tokens] of counts.entries()) total += BigInt(tokens) * BigInt(prices[index] as Pico)
  const rounded = (total + PICO_PER_NANO - 1n) / PICO_PER_NANO
  return nano(rounded > BigInt(MAX_NANO) ? MAX_NANO : Number(rounded))
}
