/** Drain slots: how many answers of one provider are read to their end after their clients have disconnected. */
import { expect, test } from 'bun:test'
import { createTestSource, hubItems } from '@test/gateway/answer-parts'
import { ZERO_USAGE } from '@/chat/usage'
import { createDrainSlots } from '@/gateway/attempt/drain-slots'
import { Meter } from '@/gateway/charge/meter'
import { drainUpstream } from '@/gateway/relay/drain'

test('drain slots are counted per provider, refused if all are taken, and free again once returned', () => {
  const slots = createDrainSlots()
  const first = slots.take('one', 'a', 2)
  expect([first, slots.take('one', 'b', 2), slots.take('other', 'a', 1)].every(Boolean)).toBe(true)
  expect([slots.take('one', 'c', 2), slots.take('other', 'b', 1)]).toEqual([undefined, undefined])
  first?.()
  expect(slots.take('one', 'c', 2)).toBeDefined()
  expect(slots.take('one', 'a', 2)).toBeUndefined()
})

test('one account gets a quarter of a provider’s drain slots', () => {
  const slots = createDrainSlots()
  const own = Array.from({ length: 50 }, () => slots.take('one', 'loud', 50)).filter(Boolean)
  expect(own).toHaveLength(12)
  expect(slots.take('other', 'loud', 50)).toBeDefined()
  const others = Array.from({ length: 50 }, (_, index) => slots.take('one', `account ${index}`, 50)).filter(Boolean)
  expect(others).toHaveLength(38)
  own[0]?.()
  expect(slots.take('one', 'loud', 50)).toBeDefined()
})

test('with a maximum of 0 drain slots, no answer is read to its end after a disconnect', () => {
  expect(createDrainSlots().take('one', 'a', 0)).toBeUndefined()
})

test('drained events before and after the disconnect are counted, up to the terminator or the first fault', async () => {
  const source = createTestSource()
  const meter = new Meter(100)
  const usage = (output: number) => hubItems({ type: 'usage', usage: { ...ZERO_USAGE, output } })
  source.give({ kind: 'items', items: usage(2) }, { kind: 'failed', failure: { kind: 'broken', detail: 'over' } })
  source.give({ kind: 'items', items: usage(9) })
  const underWay = [Promise.resolve({ kind: 'items' as const, items: usage(1) })]
  await drainUpstream(source, underWay, meter, { kind: 'drain', maxMs: 5_000, maxConcurrent: 1 })
  expect(meter.reading().usage?.output).toBe(2)
  expect(source.reads()).toBe(2)
})
