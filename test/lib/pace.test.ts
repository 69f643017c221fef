/** The pace of background work: how long it rests, by how long it has worked. */
import { expect, test } from 'bun:test'
import { createPace } from '@/lib/pace'

const elapsed = async (work: () => Promise<void>) => {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

test('rests for as long as its share of the time asks for, counted from the last rest', async () => {
  const pace = createPace(0.25)
  Bun.sleepSync(20)
  expect(await elapsed(pace)).toBeGreaterThan(58)
  Bun.sleepSync(10)
  expect(await elapsed(pace)).toBeGreaterThan(28)
})
