/** Provider signatures, stored in the shared Redis while it has room. */
import type { Config } from '@/config/config'
import { createSignatureStore, type SignatureStore } from '@/gateway/signatures/signature-store'
import { ANSWERS_SHARE } from '@/http/idempotency/room'
import type { RedisClient } from '@/ledger/store/connection'
import type { StoreWatch } from '@/ledger/store-watch'

type Parts = { config: Config; redis: RedisClient; storeWatch: Pick<StoreWatch, 'state'> }

export function createKeptSignatures({ config, redis, storeWatch }: Parts): SignatureStore {
  const crowdedShare = (config.redisFullPercent / 100) * ANSWERS_SHARE
  const keeper = {
    set: (name: string, value: string, ttlSeconds: number) => redis.set(name, value, 'EX', ttlSeconds),
    get: (name: string) => redis.get(name),
    delete: (name: string) => redis.del(name),
    async count(name: string, amount: number, seconds: number) {
      const [sum] = await Promise.all([redis.incrby(name, amount), redis.expire(name, seconds, 'NX')])
      return sum
    },
    isCrowded: () => storeWatch.state().memoryShare >= crowdedShare,
  }
  return createSignatureStore(keeper)
}
