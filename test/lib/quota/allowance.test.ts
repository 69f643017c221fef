/** An allowance per subject: a minute's amount at once, then refilled evenly. */
import { expect, test } from 'bun:test'
import { createAllowance } from '@/lib/quota/allowance'

function setUp(perMinute: number) {
  let nowMs = 1_000_000
  const allowance = createAllowance(
    () => perMinute,
    () => nowMs,
  )
  return {
    allowance,
    pass(milliseconds: number) {
      nowMs += milliseconds
    },
  }
}

test('an allowance permits a minute’s amount at once, and then returns the waiting time', () => {
  const { allowance } = setUp(60)
  const early = Array.from({ length: 62 }, () => allowance.take('a'))
  expect(early.slice(0, 60)).toEqual(Array(60).fill(0))
  expect(early.slice(60)).toEqual([1_000, 1_000])
  expect(allowance.waitMs('a')).toBe(1_000)
})

test('an allowance refills evenly, up to a minute’s worth', () => {
  const { allowance, pass } = setUp(60)
  for (let time = 0; time < 60; time++) allowance.take('a')
  pass(1_000)
  expect([allowance.take('a'), allowance.take('a')]).toEqual([0, 1_000])
  pass(3_600_000)
  const early = Array.from({ length: 61 }, () => allowance.take('a'))
  expect(early.filter((wait) => wait === 0)).toHaveLength(60)
})

test('each subject has its own allowance, and reading the waiting time uses none of the allowance', () => {
  const { allowance } = setUp(1)
  expect([allowance.waitMs('a'), allowance.waitMs('a'), allowance.take('a')]).toEqual([0, 0, 0])
  expect([allowance.take('a'), allowance.take('b')]).toEqual([60_000, 0])
})
