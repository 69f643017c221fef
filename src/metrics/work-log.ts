/** Remembers the latest work of the event loop, so that a stall can be explained afterwards. */

/** Number of remembered requests: as many as may begin in a tenth of a second. */
const SIZE = 256
const names: string[] = Array(SIZE).fill('')
const timesMs = new Float64Array(SIZE)
let next = 0
let awaiting: (() => void) | undefined

/** Notes that work for the request at `url` begins. Takes nanoseconds, and keeps only the latest {@link SIZE}. */
export function noteWork(url: string): void {
  awaiting?.()
  names[next] = url
  timesMs[next] = performance.now()
  next = (next + 1) % SIZE
}

/** Calls `listener` once when work is noted next; replaces an earlier listener. */
export function onNextWork(listener: () => void): void {
  awaiting = () => {
    awaiting = undefined
    listener()
  }
}

/** When work was last noted, by `performance.now()`; 0 if never. */
export function lastWorkMs(): number {
  return timesMs[(next - 1 + SIZE) % SIZE] ?? 0
}

/** The URL of the work since `fromMs` that ran longest before other work began; undefined if there was none. */
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
