/**
 * A shard's epoch: a random word that each of its accounts and keys carries once it has been compared with the history. A new one
 * makes them all unconfirmed at once. Every new epoch is made here, also those that scripts set.
 */
import { systemClock } from '@/lib/clock'
import { randomBase62 } from '@/lib/ids'
import type { RedisClient } from './connection'
import { metaName } from './names'

const RANDOM_CHARS = 8

/** An epoch that no shard has had: the time by this process's clock, and a random word. */
export function freshEpoch(): string {
  return `${systemClock.now()}-${randomBase62(RANDOM_CHARS)}`
}

/** When an epoch began, milliseconds since 1970. */
export function beginningOf(epoch: string): number {
  return Number(epoch.slice(0, epoch.indexOf('-')))
}

/** The shard's epoch now; null if the store has none, because it is new or was emptied. */
export function readEpoch(redis: RedisClient, shard: number): Promise<string | null> {
  return redis.hget(metaName(shard), 'epoch')
}

/** Makes every account and key of a shard unconfirmed, so that each is compared with the history on its next use. */
export async function startEpoch(redis: RedisClient, shard: number): Promise<void> {
  await redis.hset(metaName(shard), 'epoch', freshEpoch())
}
