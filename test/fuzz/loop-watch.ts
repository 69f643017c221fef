/** Notices how long the event loop stands still because it is at work. */

const TICK_MS = 20

/**
 * Starts to watch. Returns how to ask for the longest standstill since the last question, in milliseconds. Time in which the
 * process did not run does not count, so that a busy machine is not blamed.
 */
export function watchLoop(): () => number {
  let longestMs = 0
  let lastMs = performance.now()
  let lastCpu = process.cpuUsage()

  function look(): void {
    const [nowMs, cpu] = [performance.now(), process.cpuUsage(lastCpu)]
    const atWorkMs = Math.min(nowMs - lastMs, (cpu.user + cpu.system) / 1000)
    longestMs = Math.max(longestMs, atWorkMs - TICK_MS)
    lastMs = nowMs
    lastCpu = process.cpuUsage()
  }

  setInterval(look, TICK_MS).unref()
  return () => {
    // What the loop is in the middle of counts as well.
    look()
    const longest = longestMs
    longestMs = 0
    return longest
  }
}
