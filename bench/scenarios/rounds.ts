/** Puts every peer under every scenario in turn, round after round, so that whatever disturbs the machine disturbs all alike. */

import type { PeerKind } from '@bench/peers/peer'
import { addRound, addThreads, type Results } from '@bench/report/results'
import type { Mode } from '@bench/report/scenario-names'
import { type Contestant, FIRST_TRAFFIC, partiesOf, type World } from '@bench/world/world'
import { inRounds } from './length'
import type { Scenario } from './scenario'
import { measureWindow } from './window'

type RoundPlan = {
  scenarios: readonly Scenario[]
  rounds: number
  /** How long a measurement takes. */
  windowMs: number
  mode: Mode
  /** When all rounds have to be over, by performance.now(). */
  deadlineMs: number
  say(line: string): void
}

/**
 * The first answers of a server say more of its compiler than of it: so many are asked for and forgotten, or as many as it gives
 * in the time. The more code a server runs per request, the longer it takes until all of that is compiled to the end.
 */
const WARM_UP_ANSWERS = 30_000
const WARM_UP_SHORT_MS = 3_000
const WARM_UP_LONG_MS = 12_000
const WARM_UP_JOB = { connections: 64, durationMs: 500, rampMs: 0 }
const WARM_UP_WINDOW_MS = 300

/** Fills the rows of `results`. */
export async function runRounds(world: World, plan: RoundPlan, results: Results): Promise<void> {
  await warmUp(world, plan.mode === 'quick' ? WARM_UP_SHORT_MS : WARM_UP_LONG_MS)
  await runRound(world, { ...plan, windowMs: WARM_UP_WINDOW_MS }, undefined, 0)
  const done = await inRounds(plan.rounds, plan.deadlineMs, async (round) => {
    plan.say(`  round ${round + 1} of ${plan.rounds}`)
    await runRound(world, plan, results, round)
  })
  if (done < plan.rounds) results.notes.push(`The time was up after ${done} of ${plan.rounds} rounds.`)
}

/** In a full run, only what a ratio needs is measured more than once. */
function takesPart(kind: PeerKind, scenario: Scenario, mode: Mode, round: number): boolean {
  if (kind.onlyScenarios?.includes(scenario.id) === false) return false
  return mode !== 'full' || round === 0 || (scenario.modes.includes('guard') && kind.modes.includes('guard'))
}

async function warmUp(world: World, limitMs: number): Promise<void> {
  for (const { running } of world.contestants) {
    const shot = running.shot(FIRST_TRAFFIC)
    const deadlineMs = performance.now() + limitMs
    for (let answers = 0; shot && answers < WARM_UP_ANSWERS && performance.now() < deadlineMs; ) {
      answers += (await world.client.run({ kind: 'closed', shot, ...WARM_UP_JOB })).answered
    }
  }
}

/** Each round begins with another peer, so that none is always the one after a heavy one. */
async function runRound(world: World, plan: RoundPlan, results: Results | undefined, round: number): Promise<void> {
  for (const scenario of plan.scenarios) {
    const peers = world.contestants.filter(({ kind }) => takesPart(kind, scenario, plan.mode, round))
    for (let turn = 0; turn < peers.length; turn++) {
      const peer = peers[(turn + round) % peers.length] as Contestant
      const shot = peer.running.shot(scenario.traffic)
      if (!shot) continue
      const job = scenario.job(shot, plan.windowMs)
      const { figures, threads, failures } = await measureWindow(
        world.client,
        job,
        partiesOf(world, peer),
        scenario.unit,
        world.stores.logBytes,
      )
      if (!results) continue
      addRound(results.rows, scenario.id, peer.kind.name, figures)
      addThreads(results.threads, scenario.id, peer.kind.name, threads)
      if (figures.failedShare === 1)
        results.notes.push(`${peer.kind.name}, ${scenario.id}, round ${round + 1}: no answer`)
      for (const [reason, count] of Object.entries(failures)) {
        results.notes.push(`${peer.kind.name}, ${scenario.id}, round ${round + 1}: ${count} × ${reason}`)
      }
    }
  }
}
