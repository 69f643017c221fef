/** Waiting for something to become true, instead of sleeping and hoping. */
import { availableParallelism, loadavg } from 'node:os'

const POLL_INTERVAL_MS = 5
const SELDOM_MS = 30
/** The one limit of everything that tests wait for: what takes longer never comes, however busy the machine is. */
export const PATIENCE_MS = 120_000

/**
 * Polls `condition` every `pollMs` until it returns something truthy, and returns that. Gives up after `limitMs`, naming `what`;
 * only the fault suite, which judges times where it is run by hand, has limits of its own.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what = 'condition',
  limitMs = PATIENCE_MS,
  pollMs = POLL_INTERVAL_MS,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, false | null | undefined | 0 | ''>
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms for ${what}, ${machineLoad()}`)
    await Bun.sleep(pollMs)
  }
}

/** Likewise, for what takes seconds and is dear to look at: it looks less often. */
export function untilSeldom<T>(condition: () => T | Promise<T>, what: string): ReturnType<typeof until<T>> {
  return until(condition, what, PATIENCE_MS, SELDOM_MS)
}

/** What the machine has to do beside the tests, for whoever reads of a wait that was in vain. */
function machineLoad(): string {
  const loads = loadavg().map((load) => load.toFixed(1))
  return `at a load of ${loads.join(', ')} (1, 5, 15 minutes) on ${availableParallelism()} cores`
}
