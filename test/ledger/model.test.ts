/**
 * The Lua scripts against a model: random operations of two clients, with repetitions, clock jumps, crashes of
 * flushers, restarts, and a Redis with old data. LEDGER_MODEL_STEPS sets the number of operations.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { startRedis, type TestServer } from '@test/support/stores'
import { checkLedger } from '@/ledger/check/check'
import { withinDay } from './accounts/within-day'
import { connect, createBench } from './harness'
import { commands } from './operations'
import { createWorld, type World } from './world'

const STEPS = Number(process.env.LEDGER_MODEL_STEPS ?? 3_000)
const STEPS_PER_RUN = 60
const MS_PER_STEP = 40

let server: TestServer
let redis: Awaited<ReturnType<typeof connect>>[]

beforeAll(async () => {
  server = await startRedis()
  redis = [await connect(server.url), await connect(server.url)]
})
afterAll(async () => {
  for (const client of redis) client.disconnect()
  await server.stop()
})

/** Plays operations to both, and compares the store with the history in the end. */
async function play(run: Iterable<fc.AsyncCommand<object, World>>): Promise<void> {
  const [first, second] = redis as [(typeof redis)[0], (typeof redis)[0]]
  const bench = createBench(first)
  const other = createBench(second, undefined, bench.history)
  await fc.asyncModelRun(async () => ({ model: {}, real: await createWorld([bench, other]) }), run)
  await bench.ledger.expireDue(1_000)
  const report = await checkLedger({ redis: first, history: bench.history, logger: bench.logger })
  expect(report.violations).toEqual([])
  for (const client of redis) client.removeAllListeners()
}

test(
  `the scripts give the same results as the model, over ${STEPS} operations`,
  async () => {
    let operations = 0
    const property = fc.asyncProperty(
      fc.commands([commands], { maxCommands: 2 * STEPS_PER_RUN, size: 'max' }),
      async (run) => {
        // The model knows no months.
        await withinDay(() => play(run))
        operations += [...run].length
      },
    )
    await fc.assert(property, {
      numRuns: Math.ceil(STEPS / STEPS_PER_RUN),
      // Bounds the shrinking of a failure; a run without one ends long before.
      interruptAfterTimeLimit: STEPS * MS_PER_STEP,
    })
    expect(operations).toBeGreaterThan(STEPS / 4)
  },
  2 * STEPS * MS_PER_STEP,
)
