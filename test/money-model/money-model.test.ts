/** Two gateways handle money as the model does: some sequences with a fixed seed. `thousands/` runs many more. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startRedis, type TestServer } from '@test/support/stores'
import type { Operation } from './operations'
import { playSequences, playStory } from './play'

setDefaultTimeout(900_000)

const SEQUENCES = 24
/** Stays, so that the suite judges the same code alike. */
const FIXED_SEED = 100

let redis: TestServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test(`${SEQUENCES} random sequences of operations keep balances and books correct`, async () => {
  const seen = await playSequences(redis.url, SEQUENCES, FIXED_SEED)
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining([
      ...['settled', 'forced', 'expired_charged', 'late', 'rewound', 'archived'],
      ...['blacked_out', 'turned_day', 'turned_week', 'turned_month'],
      ...['move_moved', 'move_insufficient'],
      ...['reversed', 'reinstated', 'over_budget', 'grant_updated', 'handed_over'],
    ]),
  )
})

/** What chance seldom brings about: a deposit whose credit an operator took is refunded and charged back. */
const TAKEN_AWAY: readonly Operation[] = [
  { kind: 'transfer', who: 0, cents: 0, isAgreed: true },
  { kind: 'deposit', who: 0, cents: 1_000 },
  { kind: 'move', who: 0, cents: 1, isAll: true },
  { kind: 'move', who: 0, cents: 100, isAll: false },
  { kind: 'adjust', who: 0, cents: 14_000_000, isTaking: true, mayOverdraw: false },
  { kind: 'adjust', who: 0, cents: 14_000_000, isTaking: true, mayOverdraw: true },
  { kind: 'refund', which: 0, cents: 500, mayOverdraw: false },
  { kind: 'chargeback', which: 0, cents: 1_500 },
  { kind: 'move', who: 0, cents: 100, isAll: false },
  { kind: 'budget', client: 0, key: 1, scope: 'key', window: 'month', spare: 0, isAbove: false },
  { kind: 'reserve', client: 0, key: 1, tokens: 50_000, isAll: false, asked: 2, output: 100, answers: 0 },
]

/** A late settlement of a hang-up that might have been free is sent twice; then the machine loses its power. */
const LATE_TWICE: readonly Operation[] = [
  { kind: 'reserve', client: 1, key: 2, tokens: 39_054, isAll: true, asked: 1, output: 31, answers: 1 },
  { kind: 'turn', turn: 'week' },
  { kind: 'save' },
  { kind: 'expire', client: 0 },
  { kind: 'settle', which: 0, share: 27, isHangUp: 'free' },
  { kind: 'settle', which: 0, share: 56, isHangUp: 'free' },
  { kind: 'blackout', isResentFirst: false, isEmpty: false },
]

test('a late charge that was sent twice is charged once, even after the machine loses power', async () => {
  expect(await playStory(redis.url, LATE_TWICE)).toEqual([
    ...['reserved', 'turned_week', 'expired_free', 'late', 'already_settled', 'blacked_out'],
  ])
})

test('deposited credit cannot be transferred, and is not refunded after an operator removed it', async () => {
  const seen = await playStory(redis.url, TAKEN_AWAY)
  expect(seen).toEqual([
    ...['move_moved', 'move_reversible', 'refund_insufficient_balance', 'reversed', 'suspended', 'move_suspended'],
    'budget_exceeded',
  ])
})
