/** Converts publicly listed prices of a model into catalogue prices, by token class and input length. */
import type { ModelPrice } from '@pydantic/genai-prices'
import type { Prices } from '@/catalog/types'
import { priceToPico } from '@/lib/money'

/** Input other than text. We sell it at the input price, but a provider may list another price. */
export type Medium = 'audio' | 'image'

/** The prices for a request with `inputTokens`. Unlisted cache prices equal the input price. */
export function pricesAt(listed: ModelPrice, inputTokens: number, media: readonly Medium[]): Prices {
  function usd(name: string): number | undefined {
    const price = listed[name]
    if (price === undefined || typeof price === 'number') return price
    return price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base
  }
  const input = Math.max(usd('input_mtok') ?? 0, ...media.map((name) => usd(`input_${name}_mtok`) ?? 0))
  const cacheRead = Math.max(
    usd('cache_read_mtok') ?? input,
    ...media.map((name) => usd(`cache_${name}_read_mtok`) ?? 0),
  )
  const cacheWrite = usd('cache_write_mtok') ?? input
  return {
    input: pico(input),
    cacheRead: pico(cacheRead),
    cacheWrite5m: pico(cacheWrite),
    cacheWrite1h: pico(usd('cache_write_1h_mtok') ?? cacheWrite),
    output: pico(usd('output_mtok') ?? 0),
  }
}

/** Input sizes above which another price applies, in tokens, ascending. */
export function stepsOf(listed: ModelPrice): number[] {
  const starts = Object.values(listed).flatMap((price) => (typeof price === 'object' ? price.tiers : []))
  return [...new Set(starts.map(({ start }) => start))].sort((one, other) => one - other)
}

/** The price in the catalogue's unit. A price with too many decimals is rounded up to the next millionth of a dollar. */
export function pico(usd: number) {
  const price = priceToPico(usd) ?? priceToPico(Math.ceil(usd * 1_000_000) / 1_000_000)
  if (price === undefined) throw new Error(`a listed price of ${usd} USD is beyond ours`)
  return price
}
