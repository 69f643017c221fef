/** Finds out whether a store was written by another version of the gateway, in a layout that this one cannot read. */
import { ALL_SHARDS } from './store/all-shards'
import type { RedisClient } from './store/connection'
import { LAYOUT, metaName } from './store/names'

/** Describes the store's layout if it is not ours. Reads only. A store that does not answer is checked at its first use. */
export async function findOtherLayout(redis: RedisClient): Promise<string | undefined> {
  const reading = ALL_SHARDS.map((shard) => redis.hmget(metaName(shard), 'layout', 'shards'))
  const metas = await Promise.all(reading).catch(() => [])
  for (const [layout, shards] of metas) {
    if (shards) return otherLayout('')
    if (layout && layout !== LAYOUT) return otherLayout(layout)
  }
  return undefined
}

/** The sentence for operators. `layout` is empty in a store of a version before 1.0. */
export function otherLayout(layout: string): string {
  if (layout !== '')
    return 'Redis holds balances of a newer version, which this version cannot read. Nothing was changed. Start that version again.'
  return 'Redis holds balances of a version before 1.0, which this version cannot read. Nothing was changed. Start with an empty Redis and an empty Postgres.'
}
