/** Redis accepts commands and answers none. */
import type { Fault, Stage } from '@faults/fault'
import type { SingleWorld } from '@faults/world/world'
import { expectClosedFor } from './expect'

/** Longer than the holds of the suite live: on its return, holds of living gateways are overdue. */
const HUNG_MS = 7_000
const PAUSED_MS = 3_000
/** What gateways may ask of a store that has just come back, in commands per second and gateway. */
const STORM_LIMIT = 20_000

export const f12: Fault = {
  id: 'F12',
  world: 'single',
  isQuick: true,
  title: `Redis hangs for ${HUNG_MS / 1000} s (SIGSTOP), longer than holds live`,
  promise:
    'As F5. A reserve that was given up on and ran all the same is taken back by its id; no storm on its return.',
  async run(stage) {
    const { redis } = stage.world
    await stage.traffic(12)
    await stage.inject(() => redis.signal('SIGSTOP'))
    await expectClosedFor(stage, stage.isQuick ? HUNG_MS / 2 : HUNG_MS)
    await returnQuietly(stage, () => redis.signal('SIGCONT'))
  },
}

export const f12Paused: Fault = {
  id: 'F12p',
  world: 'single',
  title: `Redis holds back all writes for ${PAUSED_MS / 1000} s (CLIENT PAUSE), and then does them`,
  promise: 'As F12.',
  async run(stage) {
    const { redis } = stage.world
    await stage.traffic(12)
    await stage.inject(() => redis.admin.call('CLIENT', 'PAUSE', PAUSED_MS, 'WRITE'))
    await expectClosedFor(stage, PAUSED_MS - 300)
    await returnQuietly(stage, () => redis.admin.call('CLIENT', 'UNPAUSE'))
  },
}

/** Lifts the fault and counts what the store is asked from then on. */
async function returnQuietly(stage: Stage<SingleWorld>, lift: () => Promise<unknown>): Promise<void> {
  const { admin } = stage.world.redis
  const started = performance.now()
  await stage.lift(lift)
  const perSecond = Number(/instantaneous_ops_per_sec:(\d+)/.exec(await admin.info('stats'))?.[1])
  stage.note(`F12: ${perSecond} commands/s ${Math.round(performance.now() - started)} ms after the return`)
  stage.expect(perSecond < STORM_LIMIT * stage.world.gateways.length, `a storm of ${perSecond} commands/s`)
}
