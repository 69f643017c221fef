/** Random numbers from a seed, so that a run can be repeated. */

export interface Random {
  /** From 0 up to 1. */
  next(): number
  /** An integer from `least` to `most`. */
  integer(least: number, most: number): number
  pick<T>(items: readonly T[]): T
}

/** A generator (mulberry32) for a 32-bit seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    integer,
    pick(items) {
      const item = items[integer(0, items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}
