/** More requests than two gateways can serve. */
import type { Fault, Stage } from '@faults/fault'
import type { SingleWorld } from '@faults/world/world'

const CALM_CLIENTS = 24
const CROWD = 400
const PERIOD_MS = 4_000
/** The share of the goodput that a crowd leaves at least, on a machine that the crowd itself runs on as well. */
const LEAST_SHARE = 0.8
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
    const describe = ({ perSecond, perCpuSecond }: Goodput) =>
      `${Math.round(perSecond)} answers/s (${Math.round(perCpuSecond)} per second of processor time)`
    stage.note(
      `C12: ${describe(calm)} for ${CALM_CLIENTS} clients, ${describe(loaded)} for ${CROWD}; health in ${Math.round(healthMs)} ms`,
    )
    // Others may take the machine for a while: then it counts what was made of the time that was left.
    const share = Math.max(loaded.perSecond / calm.perSecond, loaded.perCpuSecond / calm.perCpuSecond)
    stage.expect(share >= LEAST_SHARE, `the goodput fell from ${describe(calm)} to ${describe(loaded)}`)
    await stage.lift(() => undefined)
  },
}

type Goodput = { perSecond: number; perCpuSecond: number }

/** Good answers to this many clients at once. */
async function load(stage: Stage<SingleWorld>, clients: number): Promise<Goodput> {
  const customers = await Promise.all(Array.from({ length: 10 }, () => stage.customer()))
  const cpuBefore = await cpuSeconds(stage)
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
  const seconds = (performance.now() - started) / 1000
  return { perSecond: answers / seconds, perCpuSecond: answers / ((await cpuSeconds(stage)) - cpuBefore) }
}

/** Processor time of all gateways until now. */
async function cpuSeconds({ world }: Stage<SingleWorld>): Promise<number> {
  const footprints = await Promise.all(world.gateways.map((gateway) => gateway.footprint()))
  return footprints.reduce((sum, footprint) => sum + footprint.cpuSeconds, 0)
}
