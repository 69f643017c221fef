/** Plays sequences until one fails; a test file only where it is named. SEQUENCES says how many at most. */
import { setDefaultTimeout, test } from 'bun:test'
import { playSequences } from '@test/money-model/play'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'
import { SEED } from '@test/support/seed'
import { startRedis } from '@test/support/stores'

setDefaultTimeout(1_800_000)

test('sequences', async () => {
  const redis = await startRedis()
  await playSequences(redis.url, Number(OUR_ENVIRONMENT.SEQUENCES), SEED, { endOnFailure: true })
})
