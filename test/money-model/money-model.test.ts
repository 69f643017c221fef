/** Two gateways do with money what the model does: some sequences, the same ones in every run. `thousands/` plays many more. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startRedis, type TestServer } from '@test/support/stores'
import { playSequences } from './play'

setDefaultTimeout(900_000)

const SEQUENCES = 24
/** Stays, so that the suite judges the same code alike. */
const FIXED_SEED = 100

let redis: TestServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test(`${SEQUENCES} sequences of operations that move money`, async () => {
  const seen = await playSequences(redis.url, SEQUENCES, FIXED_SEED)
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining([
      ...['settled', 'forced', 'expired_charged', 'late', 'rewound', 'archived'],
      ...['reversed', 'reinstated', 'over_budget', 'budget_exceeded', 'grant_updated', 'handed_over'],
    ]),
  )
})
