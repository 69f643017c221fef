/** Random choices that a seed repeats: what a fuzzer found once can be found again. */

export interface Random {
  /** [0, 1). */
  fraction(): number
  /** An integer below `limit`. */
  below(limit: number): number
  /** One of `items`, which must not be empty. */
  pick<T>(items: readonly T[]): T
  /** True once in `times` calls, on average. */
  once(times: number): boolean
}

/** Creates the choices of `seed` (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(fraction() * limit)
  return {
    fraction,
    below,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    once: (times) => below(times) === 0,
  }
}
