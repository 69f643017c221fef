/** Runs faults one after another, each in a world that the one before has left whole, and checks every invariant after each. */
import { join } from 'node:path'
import type { GatewayProcess } from '@faults/world/gateway-process'
import { createRandom, type Random } from '@faults/world/random'
import { startSampler } from '@faults/world/sampler'
import {
  type ClusterWorld,
  openClusterWorld,
  openSingleWorld,
  openWatchedWorld,
  type SingleWorld,
  type WatchedWorld,
  type World,
} from '@faults/world/world'
import { until } from '@test/support/until'
import { withDeadline } from '@/lib/deadline'
import { checkAnswers } from './check/answers'
import { checkBill } from './check/bill'
import { checkAmounts, checkHolds, checkMoney } from './check/books'
import { type Breach, type Evidence, readCharges } from './check/evidence'
import { createHealthCheck } from './check/health'
import { createPermanence } from './check/permanence'
import { createSecretSearch } from './check/secrets'
import type { Fault, Stage } from './fault'
import { openStage } from './stage'

export type FaultResult = {
  fault: Fault
  /** How many requests ended how while the fault was on, e.g. `complete` or `503`. */
  seen: Map<string, number>
  recoveryMs: number | undefined
  durationMs: number
  /** What clients did not see as promised. */
  complaints: string[]
  breaches: Breach[]
  notes: string[]
}

type RunOptions = {
  folder: string
  seed: number
  isQuick: boolean
  onResult(result: FaultResult): void
}

/** What a fault may take before it counts as broken, where it says no other; in the short form, which judges no times, much more. */
const FAULT_LIMIT_MS = 120_000
const SHORT_FORM_LIMIT_MS = 900_000
/** Sweepers, settlers and flushers get this long to bring the books to rest; a dead flusher's batch waits for half of it. */
const QUIET_LIMIT_MS = 75_000

/** Runs `faults` and returns what became of each. */
export async function runFaults(faults: readonly Fault[], options: RunOptions): Promise<FaultResult[]> {
  const results: FaultResult[] = []
  const keep = (result: FaultResult) => {
    results.push(result)
    options.onResult(result)
  }
  const single = faults.filter((fault) => fault.world === 'single')
  const clustered = faults.filter((fault) => fault.world === 'cluster')
  const watched = faults.filter((fault) => fault.world === 'watched')
  if (single.length > 0) await runIn(() => openSingleWorld(join(options.folder, 'single')), single, options, keep)
  if (clustered.length > 0)
    await runIn(() => openClusterWorld(join(options.folder, 'cluster')), clustered, options, keep)
  if (watched.length > 0) await runIn(() => openWatchedWorld(join(options.folder, 'watched')), watched, options, keep)
  return results
}

async function runIn<W extends World>(
  open: () => Promise<W>,
  faults: readonly Fault[],
  options: RunOptions,
  keep: (result: FaultResult) => void,
): Promise<void> {
  const world = await open()
  const checks = {
    permanence: createPermanence(world),
    secrets: createSecretSearch(world),
    health: createHealthCheck(world, options.isQuick),
  }
  try {
    for (const [index, fault] of faults.entries()) {
      keep(await runOne(world, fault, checks, createRandom(options.seed + index), options.isQuick))
    }
  } finally {
    await world.close()
  }
}

type Checks = {
  permanence: ReturnType<typeof createPermanence>
  secrets: ReturnType<typeof createSecretSearch>
  health: ReturnType<typeof createHealthCheck>
}

async function runOne<W extends World>(
  world: W,
  fault: Fault,
  checks: Checks,
  random: Random,
  isQuick: boolean,
): Promise<FaultResult> {
  const started = performance.now()
  const startedAtMs = Date.now()
  const sampler = startSampler(world.bank.redis)
  const { stage, log } = openStage(world, random, sampler, isQuick)
  const { complaints, notes, accountIds } = log
  try {
    // A fault names the world it needs, and gets no other.
    await inTime(
      fault.run(stage as unknown as Stage<SingleWorld> & Stage<ClusterWorld> & Stage<WatchedWorld>),
      isQuick ? SHORT_FORM_LIMIT_MS : (fault.limitMs ?? FAULT_LIMIT_MS),
    )
  } catch (error) {
    complaints.push(`the fault could not be played: ${String(error)}`)
  }
  await log.stop()
  await untilQuiet(world, isQuick ? SHORT_FORM_LIMIT_MS : QUIET_LIMIT_MS).catch((error) =>
    complaints.push(`the books do not come to rest: ${String(error)}`),
  )
  await sampler.stop()
  const sightings = stage.sightings.map(({ sighting }) => sighting)
  const charges = accountIds.length > 0 ? await readCharges(world, accountIds) : []
  const { tolerance } = stage
  const evidence: Evidence = { world, accountIds, sightings, sampler, startedAtMs, tolerance, charges }
  const breaches = await checkAll(evidence, checks).catch((error) => [
    { invariant: 'I1', detail: `the check failed: ${String(error instanceof Error ? error.stack : error)}` } as const,
  ])
  const seen = countSeen(stage)
  return {
    ...{ fault, seen, complaints, notes, breaches: [...breaches] },
    ...{ recoveryMs: log.recoveryMs, durationMs: performance.now() - started },
  }
}

async function checkAll(evidence: Evidence, checks: Checks): Promise<Breach[]> {
  return [
    ...(await checkMoney(evidence)),
    ...(await checkHolds(evidence)),
    ...checkAmounts(evidence),
    ...checkBill(evidence),
    ...(await checks.permanence.check()),
    ...(await checks.secrets.check(evidence.sightings)),
    ...checkAnswers(evidence.sightings, evidence.tolerance),
    ...(await checks.health.check()),
  ]
}

/**
 * Waits until no settlement waits for its acknowledgement, no hold is open and no charge is on its way: the state in which
 * everything can be compared to the last digit.
 */
async function untilQuiet({ bank, gateways }: World, limitMs: number): Promise<void> {
  // The logs last: to read them takes long, and the suite is the proxies between gateways and stores as well.
  const isQuiet = async () =>
    (await bank.ledger.openHoldCount()) === 0 &&
    (await bank.ledger.unsyncedRecordCount()) === 0 &&
    gateways.every((gateway) => unacknowledged(gateway).size === 0)
  await until(() => isQuiet().catch(() => false), 'no open hold and no event on its way', limitMs)
}

/** Holds whose settlement a gateway still tries to have acknowledged, by its own log. One that died tries nothing. */
function unacknowledged(gateway: GatewayProcess): Set<string> {
  const holdIds = new Set<string>()
  if (!gateway.isRunning()) return holdIds
  for (const line of gateway.lines('"settlement_')) {
    const { event, holdId } = JSON.parse(line) as { event: string; holdId: string }
    if (event === 'settlement_unacknowledged') holdIds.add(holdId)
    if (event === 'settlement_acknowledged') holdIds.delete(holdId)
  }
  return holdIds
}

function countSeen<W>({ sightings }: Stage<W>): Map<string, number> {
  const seen = new Map<string, number>()
  for (const { phase, sighting } of sightings) {
    if (phase !== 'during') continue
    const word = sighting.ending === 'refused' ? String(sighting.status) : sighting.ending
    seen.set(word, (seen.get(word) ?? 0) + 1)
  }
  return seen
}

function inTime(work: Promise<void>, limitMs: number): Promise<void> {
  return withDeadline(work, limitMs, () => {
    throw new Error(`not over after ${limitMs} ms`)
  })
}
