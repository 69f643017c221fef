/** Waiting for something to become true, instead of sleeping and hoping. */
import { availableParallelism, loadavg } from 'node:os'

const POLL_INTERVAL_MS = 5
const SELDOM_MS = 30
/** The one limit of everything that tests wait for: what takes longer never comes, however busy the machine is. */
export const PATIENCE_MS = 120_000

/** What a condition gives in the end. */
type Found<T> = Exclude<T, false | null | undefined | 0 | ''>
type Condition<T> = () => T | Promise<T>

/**
 * Polls `condition` until it returns something truthy, and returns that. Gives up after `limitMs`, naming `what`; only the fault
 * suite, which judges times where it is run by hand, has limits of its own.
 */
export function until<T>(condition: Condition<T>, what = 'condition', limitMs = PATIENCE_MS): Promise<Found<T>> {
  return poll(condition, what, limitMs, POLL_INTERVAL_MS)
}

/** Likewise, for what takes seconds and is dear to look at: it looks less often. */
export function untilSeldom<T>(condition: Condition<T>, what: string): Promise<Found<T>> {
  return poll(condition, what, PATIENCE_MS, SELDOM_MS)
}

async function poll<T>(condition: Condition<T>, what: string, limitMs: number, pollMs: number): Promise<Found<T>> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const value = await condition()
    if (value) return value as Found<T>
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms for ${what}, ${machineLoad()}`)
    await Bun.sleep(pollMs)
  }
}

/** What the machine has to do beside the tests, for whoever reads of a wait that was in vain. */
function machineLoad(): string {
  const loads = loadavg().map((load) => load.toFixed(1))
  return `at a load of ${loads.join(', ')} (1, 5, 15 minutes) on ${availableParallelism()} cores`
}
