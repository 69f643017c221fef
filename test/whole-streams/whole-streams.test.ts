/** Relayed streams with a fixed seed; main.ts runs many more. Slow: thousands of streams, each with two client libraries. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { runBurst } from './burst'
import { smallCases } from './cases'
import { judge } from './judge'
import { startWorld, type World } from './world'

const SEED = 23

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

test(`streams are relayed completely for every pair of formats, however they are split (seed ${SEED})`, async () => {
  expect(await judge(world, smallCases(SEED))).toEqual([])
  expect(world.besides()).toBeGreaterThan(0)
})

test(`a hundred concurrent streams are complete on a busy machine (seed ${SEED})`, async () => {
  expect(await runBurst({ seed: SEED, streams: 100, pieces: 130 })).toEqual([])
})
