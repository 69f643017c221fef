/** What the event loop took up last, so that a standstill can be explained afterwards. */

/** As many requests as may begin in one tenth of a second and matter. */
const SIZE = 256
const names: string[] = Array(SIZE).fill('')
const timesMs = new Float64Array(SIZE)
let next = 0
let awaiting: (() => void) | undefined

/** Notes that the loop takes up work for the request at `url` now. Costs some nanoseconds, and forgets all but the latest. */
export function noteWork(url: string): void {
  awaiting?.()
  names[next] = url
  timesMs[next] = performance.now()
  next = (next + 1) % SIZE
}

/** Calls `listener` once, when work is noted next; it replaces an earlier listener. */
export function onNextWork(listener: () => void): void {
  awaiting = () => {
    awaiting = undefined
    listener()
  }
}

/** When work was noted last, by `performance.now()`; 0 if none was. */
export function lastWorkMs(): number {
  return timesMs[(next - 1 + SIZE) % SIZE] ?? 0
}

/** The work noted since `fromMs` before the longest pause; undefined if none was noted. */
export function longestWorkSince(fromMs: number): string | undefined {
  let longest: string | undefined
  let longestMs = 0
  let followedAtMs = performance.now()
  for (let step = 1; step <= SIZE; step++) {
    const index = (next - step + SIZE) % SIZE
    const startedMs = timesMs[index] ?? 0
    if (startedMs < fromMs || startedMs === 0) break
    if (followedAtMs - startedMs > longestMs) {
      longest = names[index]
      longestMs = followedAtMs - startedMs
    }
    followedAtMs = startedMs
  }
  return longest
}
