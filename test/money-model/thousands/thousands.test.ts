/** The money model on hundreds of sequences, or as many thousands as MONEY_SEQUENCES says, selected by TEST_SEED. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { playSequences } from '@test/money-model/play'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'
import { SEED } from '@test/support/seed'
import { startRedis, type TestServer } from '@test/support/stores'

setDefaultTimeout(36_000_000)

/** Each takes a fifth of a second to half of one. MONEY_SEQUENCES=5000 is for a night. */
const SEQUENCES = Number(OUR_ENVIRONMENT.MONEY_SEQUENCES ?? 500)
/** What has to have happened in so many of them: each more than twenty times in 500. What is rarer has a story of its own beside this folder. */
const EVERYTHING = [
  ...['reserved', 'insufficient', 'not_sold', 'settled', 'already_settled', 'late', 'forced'],
  ...['over_budget', 'budget_exceeded', 'budget_updated', 'budget_above_larger', 'grant_updated', 'handed_over'],
  ...['expired_charged', 'expired_free', 'rewound', 'archived'],
  ...['blacked_out', 'turned_day', 'turned_week', 'turned_month'],
  ...['move_moved', 'move_insufficient'],
  ...['refund_refunded', 'refund_too_much', 'reversed', 'reinstated'],
]

/** Played side by side, each on a Redis of its own: a sequence waits most of its time. */
const LANES = 5

let servers: TestServer[]
beforeAll(async () => {
  servers = await Promise.all(Array.from({ length: LANES }, () => startRedis()))
})
afterAll(() => Promise.all(servers.map((redis) => redis.stop())))

test(`${SEQUENCES} random sequences of operations keep balances and books correct`, async () => {
  const each = Math.ceil(SEQUENCES / LANES)
  const lanes = await Promise.all(servers.map(({ url }, lane) => playSequences(url, each, SEED + lane * each)))
  const seen = new Set(lanes.flatMap((lane) => [...lane.keys()]))
  expect([...seen]).toEqual(expect.arrayContaining(EVERYTHING))
})
