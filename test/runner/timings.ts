/** What each test file took: every worker notes it after a file, and the runner adds it up. */
import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'

/** The variable that names the file in which workers note what they took. */
export const TIMINGS_FILE = 'TEST_TIMINGS_FILE'

/** Of one test file, in seconds: on the clock, and of the processors, by the worker and by the programs that it ended. */
export type Timing = { file: string; wall: number; own: number; children: number }

/** Linux counts processor time in these, for every program. */
const TICKS_PER_SECOND = 100
const ROOT = `${import.meta.dir}/../..`

let last = { wall: performance.now() / 1_000 - process.uptime(), own: 0, children: 0 }

/** Notes what was used since the file before. Nothing if no runner asks for it. */
export function noteTiming(): void {
  const path = OUR_ENVIRONMENT[TIMINGS_FILE]
  if (path === undefined) return
  const now = { wall: performance.now() / 1_000, ...processorSeconds() }
  const timing: Timing = {
    file: relative(ROOT, Bun.main),
    wall: now.wall - last.wall,
    own: now.own - last.own,
    children: now.children - last.children,
  }
  last = now
  appendFileSync(path, `${JSON.stringify(timing)}\n`)
}

/** Of this process since its start, and of all that it started and that has ended. */
export function processorSeconds(): { own: number; children: number } {
  const [, times = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ')
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = times.split(' ').slice(11, 15).map(Number)
  return { own: (user + system) / TICKS_PER_SECOND, children: (childrenUser + childrenSystem) / TICKS_PER_SECOND }
}
