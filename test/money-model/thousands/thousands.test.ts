/** The same for thousands of sequences, drawn by TEST_SEED. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { playSequences } from '@test/money-model/play'
import { SEED } from '@test/support/seed'
import { startRedis, type TestServer } from '@test/support/stores'

setDefaultTimeout(3_600_000)

const SEQUENCES = 2_000
/** What has to have happened in so many of them. */
const EVERYTHING = [
  ...['reserved', 'insufficient', 'settled', 'already_settled', 'late', 'forced'],
  ...['expired_charged', 'expired_free', 'rewound', 'archived'],
  ...['refund_refunded', 'refund_too_much', 'reversed', 'reinstated'],
]

let redis: TestServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test(`${SEQUENCES} sequences of operations that move money`, async () => {
  const seen = await playSequences(redis.url, SEQUENCES, SEED)
  expect([...seen.keys()]).toEqual(expect.arrayContaining(EVERYTHING))
})
