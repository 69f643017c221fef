/** The pace of background work: pauses are proportional to the work done. */

import { test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { standStill } from '@test/support/delays'
import { createPace } from '@/lib/pace'

test('pauses of background work are proportional to the work since the last pause', async () => {
  const pace = createPace(0.25)
  standStill(20)
  await expectAtLeast(58, pace)
  standStill(10)
  await expectAtLeast(28, pace)
})
