/** Detects data in Redis from another version of the gateway, with a layout that this version cannot read. */
import { ALL_SHARDS } from './store/all-shards'
import type { RedisClient } from './store/connection'
import { LAYOUT, metaName } from './store/names'

/** Describes the layout in Redis if it isn't ours. Reads only. An unreachable Redis is checked at its first use. */
export async function findOtherLayout(redis: RedisClient): Promise<string | undefined> {
  const reading = ALL_SHARDS.map((shard) => redis.hmget(metaName(shard), 'layout', 'shards'))
  const metas = await Promise.all(reading).catch(() => [])
  for (const [layout, shards] of metas) {
    if (shards) return otherLayout('')
    if (layout && layout !== LAYOUT) return otherLayout(layout)
  }
  return undefined
}

/** The message for operators. `layout` is empty for versions before 1.0. */
export function otherLayout(layout: string): string {
  if (layout !== '')
    return 'Redis holds balances of a newer version, which this version cannot read. Nothing was changed. Start that version again.'
  return 'Redis holds balances of a version before 1.0, which this version cannot read. Nothing was changed. Start with an empty Redis and an empty Postgres.'
}
