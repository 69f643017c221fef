/** The age of the oldest record that waits for its booking: expected, being written, or held by no worker. */
import { expect, test } from 'bun:test'
import { createRecordLag } from '@/usage/record-lag'

const START_MS = 1_760_000_000_000
const entry = (atMs: number) => ({ shard: 1, stream: 'records', id: `${atMs}-0`, fields: [] })
const nobody = () => Promise.resolve(undefined)

function lagAt() {
  const clock = { nowMs: START_MS }
  return { clock, lag: createRecordLag(() => clock.nowMs) }
}

test('a record counts as waiting from its append to its commit', () => {
  const { clock, lag } = lagAt()
  expect(lag.seconds()).toBe(0)
  lag.expected()
  clock.nowMs += 1_000
  lag.expected()
  expect(lag.seconds()).toBe(1)
  const end = lag.reading()
  end([entry(START_MS + 900), entry(START_MS - 500)], false)
  clock.nowMs += 1_000
  expect(lag.seconds()).toBe(2.5)
  lag.carried()
  expect(lag.seconds()).toBe(0)
})

test('a failed or partial read does not reset the age of the oldest waiting record', () => {
  const { clock, lag } = lagAt()
  lag.expected()
  clock.nowMs += 3_000
  lag.reading()(undefined, true)
  expect(lag.seconds()).toBe(3)
  lag.reading()([entry(START_MS)], true)
  lag.carried()
  expect(lag.seconds()).toBe(3)
  lag.reading()([], false)
  expect(lag.seconds()).toBe(0)
})

test('a check finds records that no worker holds, and the next check no longer counts them', async () => {
  const { clock, lag } = lagAt()
  await lag.look(['records'], async () => START_MS - 4_000)
  expect(lag.seconds()).toBe(0)
  const later = lagAt()
  await later.lag.look(['records'], async () => START_MS - 60_000)
  later.clock.nowMs += 1_000
  expect(later.lag.seconds()).toBe(61)
  await later.lag.look(['records'], nobody)
  expect(later.lag.seconds()).toBe(0)
  expect(clock.nowMs).toBe(START_MS)
})

test('the check of waiting records skips empty streams, and does not read the others at every count', async () => {
  const { lag } = lagAt()
  let looks = 0
  const look = (...streams: string[]) =>
    lag.look(streams, async () => {
      looks += 1
      return START_MS
    })
  await look()
  expect(looks).toBe(0)
  await createRecordLag().look([], nobody)
  const other = createRecordLag(() => START_MS)
  for (let count = 0; count < 3; count++)
    await other.look(['records'], async () => {
      looks += 1
      return START_MS
    })
  expect(looks).toBe(1)
})
