/** Notices programs that have nothing to do with a run: figures of a machine that others use are not to be quoted. */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { microsecondsBetween, readTree } from '@bench/machine/proc'
import { partiesOf, type World } from './world'

/** Linux counts in /proc/stat in hundredths of a second. */
const MICROSECONDS_PER_TICK = 10_000
const MICROSECONDS_PER_MS = 1000

/** From now on: how much of all processors programs of others use, in percent. Nothing of the run may start or end meanwhile. */
export function watchNoise(world: World): { othersPercent(): number } {
  const before = { ...readOwn(world), busy: busyMicroseconds(), atMs: performance.now() }
  return {
    othersPercent() {
      const after = readOwn(world)
      const own = microsecondsBetween(before.tree, after.tree) + after.self - before.self
      const capacity = (performance.now() - before.atMs) * MICROSECONDS_PER_MS * cpus().length
      return Math.max(0, ((busyMicroseconds() - before.busy - own) / capacity) * 100)
    },
  }
}

function readOwn(world: World) {
  const running = { pids: world.contestants.flatMap((contestant) => contestant.running.pids) }
  const parties = partiesOf(world, { kind: { usesStores: true }, running })
  const { user, system } = process.cpuUsage()
  return { tree: readTree(Object.values(parties).flat()), self: user + system }
}

/** Microseconds that all processors of the machine have worked since it started, whoever for. */
function busyMicroseconds(): number {
  return parseBusy(readFileSync('/proc/stat', 'utf8')) * MICROSECONDS_PER_TICK
}

/** Ticks that are neither idle nor waiting for a disk, in the text of /proc/stat; those of guests are within others. */
export function parseBusy(stat: string): number {
  const [, ...fields] = (stat.split('\n', 1)[0] ?? '').trim().split(/\s+/)
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, stolen = 0] = fields.map(Number)
  return user + nice + system + interrupts + softInterrupts + stolen
}
