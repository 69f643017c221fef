/** Long work is done in steps, each in its own turn of the event loop. */
import { expect, test } from 'bun:test'
import { countTurns } from '@test/support/loop-turns'
import { OWN_TURN_BYTES, ownTurn, turnFor } from '@/lib/wait/own-turn'

test('every caller gets its own turn of the event loop, in order', async () => {
  const turns = countTurns()
  const had: [step: number, turn: number][] = []
  await Promise.all(
    Array.from({ length: 20 }, async (_, step) => {
      await ownTurn()
      had.push([step, turns.now()])
    }),
  )
  turns.stop()
  expect(had.map(([step]) => step)).toEqual(Array.from({ length: 20 }, (_, step) => step))
  expect(new Set(had.map(([, turn]) => turn)).size).toBe(20)
})

test('a caller that asks within its turn gets the next turn', async () => {
  const turns = countTurns()
  await ownTurn()
  const first = turns.now()
  await ownTurn()
  const second = turns.now()
  turns.stop()
  expect(second).toBeGreaterThan(first)
})

test('short work does not wait for its own turn', () => {
  expect(turnFor(OWN_TURN_BYTES)).toBeUndefined()
  expect(turnFor(OWN_TURN_BYTES + 1)).toBeInstanceOf(Promise)
})
