/** Waiting for something to become true, instead of sleeping and hoping. */

const POLL_INTERVAL_MS = 5

/** Polls `condition` until it returns something truthy, and returns that. Throws after `timeoutMs`, naming `what`. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what = 'condition',
  timeoutMs = 10_000,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, false | null | undefined | 0 | ''>
    if (performance.now() > deadline) throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`)
    await Bun.sleep(POLL_INTERVAL_MS)
  }
}
