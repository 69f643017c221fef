/** What providers list in public for a model, as prices of ours: by class of tokens and by length of the input. */
import type { ModelPrice } from '@pydantic/genai-prices'
import type { Prices } from '@/catalog/types'
import { priceToPico } from '@/lib/money'

/** Input beside text, which we sell at the price of input; providers may list a price of its own. */
export type Medium = 'audio' | 'image'

/** The prices of a request with `inputTokens`. Caches that are not listed are read and written at the price of input. */
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

/** Sizes of input above which another price holds, in tokens, ascending. */
export function stepsOf(listed: ModelPrice): number[] {
  const starts = Object.values(listed).flatMap((price) => (typeof price === 'object' ? price.tiers : []))
  return [...new Set(starts.map(({ start }) => start))].sort((one, other) => one - other)
}

/** What is finer than a price of ours is the next one above it. */
function pico(usd: number) {
  const price = priceToPico(usd) ?? priceToPico(Math.ceil(usd * 1_000_000) / 1_000_000)
  if (price === undefined) throw new Error(`a listed price of ${usd} USD is beyond ours`)
  return price
}
