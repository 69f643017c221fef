/** Scenarios for full runs, or by name: ten thousand streams, the memory a minute after them, and clients that stop reading. */
import { readTree } from '@bench/machine/proc'
import { OURS, type Results } from '@bench/report/results'
import { MEMORY, OPEN_STREAMS, STOPPED } from '@bench/report/scenario-names'
import type { World } from '@bench/world/world'
import { runOpenStreams } from './open-streams'
import { measureMemoryLeft } from './quiet'
import { measureStoppedReaders } from './stopped-readers'

/** `untilMs` is when all has to be over, by performance.now(), with what comes after. */
type LengthPlan = { rounds: number; untilMs: number; isWanted(scenario: string): boolean; say(line: string): void }

/** Kept for what comes after the open streams. */
const AFTERWARDS_MS = 210_000
const MEMORY_WAIT_MS = 60_000
/** They take a minute each. */
const MAX_ROUNDS = 3

/** Fills the rows of `results`. */
export async function measureAtLength(world: World, plan: LengthPlan, results: Results): Promise<void> {
  const { isWanted, say } = plan
  const ours = world.contestants.find(({ kind }) => kind.name === OURS)
  const beforeBytes = ours ? readTree(ours.running.pids).residentBytes : 0
  if (isWanted(OPEN_STREAMS) || isWanted(MEMORY)) {
    say('  open streams')
    const isLast = !isWanted(MEMORY) && !isWanted(STOPPED)
    const deadlineMs = plan.untilMs - (isLast ? 0 : AFTERWARDS_MS)
    await inRounds(Math.min(plan.rounds, MAX_ROUNDS), deadlineMs, (round) => runOpenStreams(world, results, round))
  }
  if (isWanted(MEMORY) && ours) {
    say('  the memory after them')
    await Bun.sleep(MEMORY_WAIT_MS)
    measureMemoryLeft(ours, beforeBytes, results)
  }
  if (!isWanted(STOPPED)) return
  say('  clients that stop reading')
  await measureStoppedReaders(world, results)
}

/** Runs so many rounds, but begins none that would end after `deadlineMs` if it took as long as the longest before. */
export async function inRounds(
  rounds: number,
  deadlineMs: number,
  run: (round: number) => Promise<void>,
): Promise<number> {
  let longestMs = 0
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now()
    if (startedMs + longestMs > deadlineMs) return round
    await run(round)
    longestMs = Math.max(longestMs, performance.now() - startedMs)
  }
  return rounds
}
