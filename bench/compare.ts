/** One whole comparison: starts everything, measures in turn, and leaves nothing running behind. */
import { cpus, loadavg } from 'node:os'
import { removeFolder, temporaryFolder } from './machine/folder'
import { readTree } from './machine/proc'
import type { Options } from './options'
import { peersOf } from './peers/index'
import type { Results } from './report/results'
import { measureColdKeys } from './scenarios/cold'
import { runOpenStreams } from './scenarios/open-streams'
import { measureIdle, measureMemoryLeft } from './scenarios/quiet'
import { runRounds } from './scenarios/rounds'
import { SCENARIOS, type Scenario } from './scenarios/scenario'
import { measureStarts } from './scenarios/start'
import { watchNoise } from './world/noise'
import { openWorld, type World } from './world/world'

/** What differs between a quick and a full run. */
const MODES = {
  quick: { customers: 300, scale: 0.15, roundsUntilMs: 75_000, idleMs: 3_000, hasOpenStreams: false, memoryWaitMs: 0 },
  full: {
    customers: 3_000,
    scale: 1,
    roundsUntilMs: 700_000,
    idleMs: 10_000,
    hasOpenStreams: true,
    memoryWaitMs: 60_000,
  },
} as const

const OURS = 'svc-gateway'

/** Runs it. `say` hears of the progress. */
export async function compareServers(options: Options, say: (line: string) => void): Promise<Results> {
  const { mode } = options
  const startedMs = performance.now()
  const folder = await temporaryFolder('svc-gateway-bench-')
  const scenarios = SCENARIOS.filter(({ id, isFullOnly }) => options.only?.has(id) ?? (mode === 'full' || !isFullOnly))
  const results: Results = {
    mode,
    seconds: 0,
    machine: describeMachine(),
    peers: [],
    scenarios: [],
    rows: [],
    notes: [],
  }
  results.scenarios = scenarios.map(({ id, title, unit }) => ({ id, title, unit }))
  let world: World | undefined
  try {
    say('starting stores, upstream and servers')
    const kinds = peersOf(mode).filter(({ name }) => options.peers?.has(name) ?? true)
    world = await openWorld(folder, kinds, MODES[mode].customers, say)
    results.peers = world.entries
    await measureAll(world, options, scenarios, results, startedMs, say)
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
  options: Options,
  scenarios: readonly Scenario[],
  results: Results,
  startedMs: number,
  say: (line: string) => void,
): Promise<void> {
  const { scale, roundsUntilMs, idleMs, hasOpenStreams, memoryWaitMs } = MODES[options.mode]
  const ours = world.contestants.find(({ kind }) => kind.name === OURS)
  const isWhole = options.only === undefined
  const deadlineMs = startedMs + roundsUntilMs
  say('measuring')
  const noise = watchNoise(world)
  await runRounds(world, { scenarios, rounds: options.rounds, scale, deadlineMs, say }, results)
  results.machine.othersPercent = noise.othersPercent()
  if (isWhole) {
    if (hasOpenStreams) say('  open streams')
    const beforeBytes = ours ? readTree(ours.running.pids).residentBytes : 0
    for (let round = 0; hasOpenStreams && round < options.rounds; round++) await runOpenStreams(world, results, round)
    if (memoryWaitMs > 0) await Bun.sleep(memoryWaitMs)
    if (ours && hasOpenStreams) measureMemoryLeft(ours, beforeBytes, results)
    say('  idle, starts and cold keys')
    await measureIdle(world, results, options.rounds, idleMs / options.rounds)
    for (let round = 0; round < options.rounds; round++) await measureStarts(world, results)
    if (ours) for (let round = 0; round < options.rounds; round++) await measureColdKeys(world, ours, results)
  }
}

function describeMachine(): Results['machine'] {
  const [processor] = cpus()
  return {
    ...{ processor: processor?.model ?? 'unknown', cores: cpus().length, bun: Bun.version },
    ...{ at: new Date().toISOString(), loadBefore: loadavg()[0] ?? 0, loadAfter: 0, othersPercent: 0 },
  }
}
