/** Lets one fault happen: traffic, injection, lift, recovery, and everything that was seen meanwhile. */

import type { Customer } from '@faults/world/bank'
import { type Sighting, send } from '@faults/world/client'
import type { Random } from '@faults/world/random'
import type { Sampler } from '@faults/world/sampler'
import { startTraffic, type Traffic } from '@faults/world/traffic'
import type { World } from '@faults/world/world'
import { PATIENCE_MS, until } from '@test/support/until'
import type { Phase, Stage } from './fault'

type StageLog = {
  complaints: string[]
  notes: string[]
  accountIds: string[]
  /** Milliseconds from the lift to the first of several good answers of the slowest gateway; undefined without a lift. */
  recoveryMs: number | undefined
  /** Lets the traffic end. */
  stop(): Promise<void>
}

const RECOVERY_LIMIT_MS = 10_000
/** So many good answers in a row make a recovery. */
const STREAK = 3
const PROBE_PAUSE_MS = 20
const DEFAULT_USD = 5

/** Opens the stage of one fault in `world`. */
export function openStage<W extends World>(
  world: W,
  random: Random,
  sampler: Sampler,
  isQuick: boolean,
): { stage: Stage<W>; log: StageLog } {
  let phase: Phase = 'before'
  const running: Traffic[] = []
  const sightings: Stage<W>['sightings'] = []
  const log: StageLog = {
    ...{ complaints: [], notes: [], accountIds: [], recoveryMs: undefined },
    stop: async () => {
      await Promise.all(running.map((traffic) => traffic.stop()))
    },
  }
  // A request belongs to the phase in which it ended: one that a fault cut off is part of what the fault did.
  const see = (sighting: Sighting) => void sightings.push({ phase, sighting })
  const addresses = () => world.gateways.map(({ url }) => url)

  async function customer(usd = DEFAULT_USD): Promise<Customer> {
    const made = await world.bank.customer(usd)
    log.accountIds.push(made.accountId)
    sampler.watch(made.accountId)
    return made
  }

  const stage: Stage<W> = {
    ...{ world, random, isQuick, customer, sightings, see, tolerance: {} },
    async traffic(clients) {
      const customers = await Promise.all(Array.from({ length: clients }, () => customer()))
      const traffic = startTraffic({ customers, random, addresses, onSighting: see })
      running.push(traffic)
      await traffic.warm()
    },
    async send(wish, gateway = 0) {
      const sighting = await send(addresses()[gateway] ?? '', wish)
      see(sighting)
      return sighting
    },
    async inject(fault) {
      phase = 'during'
      await fault()
    },
    async lift(remedy, chosen) {
      await remedy()
      const lifted = performance.now()
      const probe = chosen ?? (await customer())
      const limit = isQuick ? PATIENCE_MS : (stage.tolerance.recoveryMs ?? RECOVERY_LIMIT_MS)
      const times = await Promise.all(world.gateways.map((_, index) => recovered(stage, probe, index, limit)))
      log.recoveryMs = Math.max(...times) - lifted
      phase = 'after'
    },
    expect(isTrue, what) {
      if (!isTrue && !log.complaints.includes(what)) log.complaints.push(what)
    },
    note: (text) => log.notes.push(text),
  }
  return { stage, log }
}

/** When the first of several good answers in a row came. Complains where none do in time. */
async function recovered<W extends World>(
  stage: Stage<W>,
  customer: Customer,
  gateway: number,
  limitMs: number,
): Promise<number> {
  let streak = 0
  let since = performance.now()
  const isWell = async () => {
    const { ending } = await stage.send({ customer, words: 2, timeoutMs: limitMs }, gateway)
    if (ending !== 'complete') streak = 0
    else if (streak++ === 0) since = performance.now()
    if (streak < STREAK) await Bun.sleep(PROBE_PAUSE_MS)
    return streak >= STREAK
  }
  await until(isWell, 'good answers', limitMs).catch(() => {
    stage.expect(false, `gateway ${gateway + 1} does not answer well ${limitMs} ms after the fault`)
  })
  return since
}
