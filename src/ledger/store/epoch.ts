/** A shard's epoch: a random text. An account or key gets it after it has been compared with Postgres. Epochs are created only here. */
import { systemClock } from '@/lib/clock'
import { randomBase62 } from '@/lib/ids'
import type { RedisClient } from './connection'
import { metaName } from './names'

const RANDOM_CHARS = 8

/** A new epoch: this process's time, and random characters. */
export function freshEpoch(): string {
  return `${systemClock.now()}-${randomBase62(RANDOM_CHARS)}`
}

/** When an epoch began, in milliseconds since 1970. */
export function beginningOf(epoch: string): number {
  return Number(epoch.slice(0, epoch.indexOf('-')))
}

/** The shard's current epoch; null in a new or emptied Redis. */
export function readEpoch(redis: RedisClient, shard: number): Promise<string | null> {
  return redis.hget(metaName(shard), 'epoch')
}

/** Makes every account and key of a shard unconfirmed, so that each is compared with Postgres on its next use. */
export async function startEpoch(redis: RedisClient, shard: number): Promise<void> {
  await redis.hset(metaName(shard), 'epoch', freshEpoch())
}
