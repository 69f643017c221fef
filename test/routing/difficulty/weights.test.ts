/** The trained weights in the repository match the program's signals, and are not empty. */
import { expect, test } from 'bun:test'
import { BUCKETS } from '@/routing/difficulty/fingerprint'
import { STRUCTURE } from '@/routing/difficulty/structure'
import { loadWeights } from '@/routing/difficulty/weights'

test('every signal and every bucket has a weight, and many weights are not zero', () => {
  const { structure, buckets, slope } = loadWeights()
  expect(structure).toHaveLength(STRUCTURE.length)
  expect(buckets).toHaveLength(BUCKETS)
  expect(structure.filter((weight) => weight !== 0).length).toBeGreaterThan(STRUCTURE.length / 2)
  expect(buckets.filter((weight) => weight !== 0).length).toBeGreaterThan(10_000)
  expect(slope).toBeGreaterThan(0)
})
