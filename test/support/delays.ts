/**
 * Delays that are a test's subject: a provider that is slow, a caller that takes its time, a process that stands still. Whoever
 * wants to know that something has happened asks `until` instead.
 */

/** What a scripted provider or caller spends before it goes on; nothing may depend on what others have done meanwhile. */
export function spend(milliseconds: number): Promise<void> {
  return Bun.sleep(milliseconds)
}

/** Does `work` after some time, beside the test. */
export function spendThen(milliseconds: number, work: () => void): void {
  setTimeout(work, milliseconds)
}

/** Holds up this whole process, as long work in one turn of its event loop does. */
export function standStill(milliseconds: number): void {
  Bun.sleepSync(milliseconds)
}

/** The signal of a caller who leaves after some time. */
export function leavesAfter(milliseconds: number): AbortSignal {
  return AbortSignal.timeout(milliseconds)
}
