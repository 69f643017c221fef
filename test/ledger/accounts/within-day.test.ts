/** A test that fails as the day turns is played again, with what it needs made anew; one that passes is not. */
import { afterAll, expect, setSystemTime, test as testOnce } from 'bun:test'
import { test, testPreparedBy } from './within-day'

const DAY_MS = 86_400_000
const plays = { turned: 0, sound: 0, prepared: 0 }

afterAll(() => void setSystemTime())

function turnDay(): void {
  setSystemTime(new Date(Date.now() + DAY_MS))
}

testPreparedBy(async () => void plays.prepared++)('fails as the day turns', () => {
  if (plays.turned++ > 0) return
  turnDay()
  throw new Error('counted for the day before')
})

test.each(['passes', 'passes as well'])('%s at midnight', () => {
  plays.sound++
  turnDay()
})

testOnce('so often were they played', () => {
  expect(plays).toEqual({ turned: 2, sound: 2, prepared: 1 })
})
