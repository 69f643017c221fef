/** A test that fails at midnight runs again with new preparation; a test that passes does not. */
import { afterAll, expect, setSystemTime, test as testOnce } from 'bun:test'
import { test, testPreparedBy } from './within-day'

const DAY_MS = 86_400_000
const plays = { turned: 0, sound: 0, prepared: 0 }

afterAll(() => void setSystemTime())

function turnDay(): void {
  setSystemTime(new Date(Date.now() + DAY_MS))
}

testPreparedBy(async () => void plays.prepared++)('a test that fails at midnight runs again', () => {
  if (plays.turned++ > 0) return
  turnDay()
  throw new Error('counted for the day before')
})

test.each(['passes', 'passes as well'])('a test that %s at midnight runs once', () => {
  plays.sound++
  turnDay()
})

testOnce('each test ran as often as expected', () => {
  expect(plays).toEqual({ turned: 2, sound: 2, prepared: 1 })
})
