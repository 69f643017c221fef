/** One whole comparison: starts everything, measures in turn, and leaves nothing running behind. */
import { cpus, loadavg } from 'node:os'
import { withDeadline } from '@/lib/deadline'
import { removeFolder, temporaryFolder } from './machine/folder'
import type { Options } from './options'
import { peersOf, twoCheckouts } from './peers/index'
import { OURS, type Results } from './report/results'
import { COLD, FLUSHER, IDLE, START } from './report/scenario-names'
import { measureColdKeys } from './scenarios/cold'
import { measureFlushing } from './scenarios/flusher'
import { inRounds, measureAtLength } from './scenarios/length'
import { measureIdle } from './scenarios/quiet'
import { runRounds } from './scenarios/rounds'
import { SCENARIOS, type Scenario } from './scenarios/scenario'
import { measureStarts } from './scenarios/start'
import { watchNoise } from './world/noise'
import { openWorld, type World } from './world/world'

/** Kept for what comes after the starts of servers, which take as long as they take. */
const COLD_AND_FLUSHER_MS = 60_000
/** An idle gateway may be checking its books: that is waited for so many times as long as is measured. */
const CHECK_PATIENCE = 5

/** What differs between runs. All times count from the moment that every server runs. */
const MODES = {
  quick: {
    ...{ customers: 300, rounds: 3, windowMs: 300 },
    ...{ roundsUntilMs: 130_000, untilMs: 170_000, idleMs: 3_000 },
  },
  guard: {
    ...{ customers: 3_000, rounds: 3, windowMs: 4_000 },
    ...{ roundsUntilMs: 900_000, untilMs: 1_000_000, idleMs: 10_000 },
  },
  full: {
    ...{ customers: 3_000, rounds: 5, windowMs: 4_000 },
    ...{ roundsUntilMs: 3_000_000, untilMs: 3_580_000, idleMs: 10_000 },
  },
} as const

/** Runs it. `say` hears of the progress. */
export async function compareServers(options: Options, say: (line: string) => void): Promise<Results> {
  const { mode } = options
  const startedMs = performance.now()
  const folder = await temporaryFolder('svc-gateway-bench-')
  const scenarios = SCENARIOS.filter(({ id, modes }) => options.only?.has(id) ?? modes.includes(mode))
  const results: Results = {
    mode,
    seconds: 0,
    machine: describeMachine(),
    peers: [],
    scenarios: [],
    rows: [],
    threads: [],
    notes: [],
  }
  results.scenarios = scenarios.map(({ id, title, unit }) => ({ id, title, unit }))
  let world: World | undefined
  try {
    say('starting stores, upstream and servers')
    const kinds = (options.against === undefined ? peersOf(mode) : twoCheckouts(options.against)).filter(
      ({ name }) => options.peers?.has(name) ?? true,
    )
    world = await openWorld(folder, kinds, MODES[mode].customers, say)
    results.peers = world.entries
    const { untilMs } = MODES[mode]
    await withDeadline(measureAll(world, options, scenarios, results, say), untilMs, () => {
      results.notes.push('The time was up: what is missing above was not measured.')
    })
  } finally {
    await world?.close()
    removeFolder(folder)
  }
  results.seconds = (performance.now() - startedMs) / 1000
  results.machine.loadAfter = loadavg()[0] ?? 0
  return results
}

async function measureAll(
  world: World,
  { mode, only, against, ...options }: Options,
  scenarios: readonly Scenario[],
  results: Results,
  say: (line: string) => void,
): Promise<void> {
  const { windowMs, roundsUntilMs, untilMs, idleMs } = MODES[mode]
  const rounds = options.rounds ?? MODES[mode].rounds
  const startedMs = performance.now()
  say('measuring')
  const noise = watchNoise(world)
  await runRounds(world, { scenarios, rounds, windowMs, mode, deadlineMs: startedMs + roundsUntilMs, say }, results)
  results.machine.othersPercent = noise.othersPercent()
  if (against !== undefined) return
  const isWanted = (name: string, isOtherwise = true) => only?.has(name) ?? isOtherwise
  const untilAfterMs = startedMs + untilMs
  const isWantedAtLength = (name: string) => isWanted(name, mode === 'full')
  await measureAtLength(world, { rounds, untilMs: untilAfterMs, isWanted: isWantedAtLength, say }, results)
  say('  idle, starts and cold keys')
  if (isWanted(IDLE))
    await measureIdle(world, results, { rounds, durationMs: idleMs / rounds, patienceMs: idleMs * CHECK_PATIENCE })
  if (isWanted(START)) await inRounds(rounds, untilAfterMs - COLD_AND_FLUSHER_MS, () => measureStarts(world, results))
  const ours = world.contestants.find(({ kind }) => kind.name === OURS)
  if (!ours) return
  if (isWanted(COLD)) await inRounds(rounds, untilAfterMs, () => measureColdKeys(world, ours, results))
  if (!isWanted(FLUSHER, mode !== 'quick')) return
  say('  flusher')
  await Promise.all(world.contestants.map(({ running }) => running.stop()))
  await inRounds(rounds, untilAfterMs, () => measureFlushing(world, results))
}

function describeMachine(): Results['machine'] {
  const [processor] = cpus()
  return {
    ...{ processor: processor?.model ?? 'unknown', cores: cpus().length, bun: Bun.version },
    ...{ at: new Date().toISOString(), loadBefore: loadavg()[0] ?? 0, loadAfter: 0, othersPercent: 0 },
  }
}
