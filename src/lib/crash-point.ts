/** Points at which a fault test can kill the process, to test that a crash there does no harm. */

/** Passes a named point. Does nothing unless the process was started to die there. */
export type CrashPoint = (name: string) => void

/** The setting for {@link createCrashPoint}: a name, and optionally the number of the pass (from 1). */
export const CRASH_POINT_PATTERN = '^[a-z_]{1,32}(:[1-9][0-9]{0,5})?$'

/** Creates a function that kills the process at `at`: `name`, or `name:n` for the n-th pass. Undefined, as in production: never. */
export function createCrashPoint(at: string | undefined): CrashPoint {
  if (at === undefined) return () => undefined
  const [chosen, count = '1'] = at.split(':')
  let left = Number(count)
  return (name) => {
    if (name !== chosen) return
    left--
    // The kernel kills the process before this call returns: nothing is flushed, closed or answered.
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
