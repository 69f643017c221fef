/** Moments at which a fault test may have the process die, to prove that any of them can be the last without harm. */

/** Passes a named moment. Does nothing unless the process was started to die there. */
export type CrashPoint = (name: string) => void

/** What {@link createCrashPoint} reads: a name, and at which of its passings (from 1) to die. */
export const CRASH_POINT_PATTERN = '^[a-z_]{1,32}(:[1-9][0-9]{0,5})?$'

/** `at` is `name` or `name:n` for the n-th passing; undefined, and so in every production, for never. */
export function createCrashPoint(at: string | undefined): CrashPoint {
  if (at === undefined) return () => undefined
  const [chosen, count = '1'] = at.split(':')
  let left = Number(count)
  return (name) => {
    if (name !== chosen) return
    left--
    // The kernel ends us before this call returns: nothing is flushed, closed or answered any more.
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  }
}
