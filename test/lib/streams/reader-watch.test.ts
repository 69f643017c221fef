/** The reader watch: reports once that a client stopped reading, and never while the writer itself waits. */
import { expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { ReaderWatch } from '@/lib/streams/reader-watch'

test('the watch reports once that the client reads nothing, but never while the watch waits itself or has ended', async () => {
  const told: string[] = []
  const watching = (name: string) => new ReaderWatch(() => told.push(name), 1)
  const [waiting, over] = [watching('waiting'), watching('over')]
  waiting.asked()
  over.stop()
  watching('start')
  await until(() => told.length === 1, 'the one that was there from the start')
  waiting.given()
  await until(() => told.length === 2, 'the one that came later')
  watching('last')
  await until(() => told.length === 3, 'the last')
  expect(told).toEqual(['start', 'waiting', 'last'])
})
