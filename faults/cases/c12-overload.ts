/** More requests than two gateways can serve. */
import type { Fault, Stage } from '@faults/fault'
import type { SingleWorld } from '@faults/world/world'

const CALM_CLIENTS = 24
const CROWD = 400
const PERIOD_MS = 4_000
/** How much of the goodput may be lost to a crowd, on a machine that the crowd itself runs on as well. */
const LEAST_SHARE = 0.5
const HEALTH_LIMIT_MS = 3_000

export const c12: Fault = {
  id: 'C12',
  world: 'single',
  title: `${CROWD} clients at once ask without pause, where ${CALM_CLIENTS} keep the machine busy`,
  promise: 'The goodput stays; nobody is answered wrongly; health is still told; every answer is charged.',
  async run(stage) {
    const calm = await load(stage, CALM_CLIENTS)
    await stage.inject(() => undefined)
    const crowd = load(stage, CROWD)
    await Bun.sleep(PERIOD_MS / 2)
    const started = performance.now()
    const health = await fetch(`${stage.world.gateways[0]?.url}/healthz`)
    stage.expect(health.ok, `health said ${health.status}`)
    const healthMs = performance.now() - started
    stage.expect(healthMs < HEALTH_LIMIT_MS, `health took ${Math.round(healthMs)} ms`)
    const loaded = await crowd
    stage.note(
      `C12: ${Math.round(calm)} answers/s for ${CALM_CLIENTS} clients, ${Math.round(loaded)} for ${CROWD}; health in ${Math.round(healthMs)} ms`,
    )
    stage.expect(
      loaded >= calm * LEAST_SHARE,
      `the goodput fell from ${Math.round(calm)} to ${Math.round(loaded)} answers/s`,
    )
    await stage.lift(() => undefined)
  },
}

/** Good answers per second. */
async function load(stage: Stage<SingleWorld>, clients: number): Promise<number> {
  const customers = await Promise.all(Array.from({ length: 10 }, () => stage.customer()))
  const started = performance.now()
  let answers = 0
  const lanes = Array.from({ length: clients }, async (_, index) => {
    while (performance.now() - started < PERIOD_MS) {
      const customer = stage.random.pick(customers)
      const seen = await stage.send({ customer, words: 2 }, index % 2)
      if (seen.ending === 'complete') answers++
      else
        stage.expect(
          [429, 503].includes(seen.status) && seen.retryAfter !== null,
          `ended ${seen.ending} ${seen.status}`,
        )
    }
  })
  await Promise.all(lanes)
  return answers / ((performance.now() - started) / 1000)
}
