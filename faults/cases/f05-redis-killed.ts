/** Redis is killed under load and comes back after a few seconds, with the file that its setting left it. */
import type { Fault } from '@faults/fault'
import { expectClosedFor } from './expect'

const DOWN_MS = 4_000

/** F5 for one persistence setting. */
function redisKilled(id: string, appendfsync: 'everysec' | 'always', isQuick: boolean): Fault {
  return {
    id,
    world: 'single',
    isQuick,
    title: `Redis is killed (SIGKILL, appendfsync ${appendfsync}) and started again after ${DOWN_MS / 1000} s`,
    promise:
      '503 with retry-after in under a second, and no unreserved call to a provider; open streams finish and are charged.',
    async run(stage) {
      const { redis } = stage.world
      await redis.admin.config('SET', 'appendfsync', appendfsync)
      await stage.traffic(12)
      await stage.inject(() => redis.kill())
      await expectClosedFor(stage, stage.isQuick ? DOWN_MS / 4 : DOWN_MS)
      await stage.lift(() => redis.start())
    },
  }
}

export const f5 = redisKilled('F5', 'everysec', true)
export const f5Always = redisKilled('F5a', 'always', false)
