/** Many relayed streams with the seed of the run: a thousand streams, and a hundred long ones at once on a busy machine. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { SEED } from '@test/support/seed'
import { runBurst } from './burst'
import { manyCases } from './cases'
import { judge } from './judge'
import { startWorld, type World } from './world'

setDefaultTimeout(3_600_000)

const STREAMS = 1_000

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

test(`${STREAMS} streams are relayed completely (seed ${SEED})`, async () => {
  expect(await judge(world, manyCases(SEED, STREAMS))).toEqual([])
  expect(world.besides()).toBeGreaterThan(0)
})

test(`a hundred long concurrent streams are complete (seed ${SEED})`, async () => {
  expect(await runBurst({ seed: SEED, streams: 100, pieces: 1_000 })).toEqual([])
})
