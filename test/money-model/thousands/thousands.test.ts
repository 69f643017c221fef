/** The same for thousands of sequences, drawn by TEST_SEED. */
import { afterAll, beforeAll, setDefaultTimeout, test } from 'bun:test'
import { playSequences } from '@test/money-model/play'
import { SEED } from '@test/support/seed'
import { startRedis, type TestServer } from '@test/support/stores'

setDefaultTimeout(3_600_000)

const SEQUENCES = 2_000

let redis: TestServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test(`${SEQUENCES} sequences of operations that move money`, () => playSequences(redis.url, SEQUENCES, SEED))
