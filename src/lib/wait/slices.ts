/** Divides long synchronous work, so that requests are served in between. */

/** Resolves in the next turn of the event loop. */
export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** `values` in order, at most `size` at once. A turn of the event loop passes before each slice but the first. */
export async function* slicesOf<T>(values: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (let start = 0; start < values.length; start += size) {
    if (start > 0) await nextTurn()
    yield values.slice(start, start + size)
  }
}
