/** How long targets usually take, remembered and forgotten. */
import { expect, test } from 'bun:test'
import { manualClock } from '@test/routing/world'
import { createLatencyBook, FORGOTTEN_AFTER_MS } from '@/routing/health/latency'

test('follows what it sees, keeps streams apart, and forgets', () => {
  const clock = manualClock()
  const book = createLatencyBook(clock)
  expect(book.usual('p1/a', true)).toBeUndefined()
  book.note('p1/a', true, 100)
  expect(book.usual('p1/a', true)).toBe(100)
  expect(book.usual('p1/a', false)).toBeUndefined()
  for (let index = 0; index < 50; index++) book.note('p1/a', true, 1_000)
  expect(book.usual('p1/a', true)).toBeGreaterThan(990)
  clock.advance(FORGOTTEN_AFTER_MS + 1)
  expect(book.usual('p1/a', true)).toBeUndefined()
  book.note('p1/a', true, 50)
  expect(book.usual('p1/a', true)).toBe(50)
})
