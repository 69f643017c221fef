/** Redis has no memory left for new requests. */
import type { Fault } from '@faults/fault'
import { expectClosedFor } from './expect'

const FULL_MS = 1_500

export const f13: Fault = {
  id: 'F13',
  world: 'single',
  isQuick: true,
  title: 'Redis is out of memory (maxmemory reached, noeviction)',
  promise: 'New requests are refused; what is held is settled all the same, and nothing is evicted.',
  async run(stage) {
    const { admin } = stage.world.redis
    await stage.traffic(12)
    await stage.inject(() => admin.config('SET', 'maxmemory', '1mb'))
    await expectClosedFor(stage, FULL_MS)
    await stage.lift(() => admin.config('SET', 'maxmemory', '0'))
  },
}
