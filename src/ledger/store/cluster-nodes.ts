/** The connections of a client: finds a shard's cluster node, and refreshes the mapping. */
import { Cluster, type Redis } from 'ioredis'
import { slotOf } from './cluster-slot'
import type { RedisClient } from './connection'
import { metaName } from './names'

/** The connection to the server of a shard; undefined if no node is known for it. A node always keeps its connection. */
export function nodeOf(redis: RedisClient, shard: number): Redis | undefined {
  if (!(redis instanceof Cluster)) return redis
  const owner = ownerOf(redis, shard)
  return redis.nodes('master').find((node) => addressOf(node) === owner)
}

/** A node's host:port. */
export function addressOf(node: Redis): string {
  return `${node.options.host}:${node.options.port}`
}

/** The node (host:port) of a shard. */
export function ownerOf(cluster: Cluster, shard: number): string {
  return cluster.slots[slotOf(metaName(shard))]?.[0] ?? ''
}

/** Refreshes a cluster's mapping of slots to nodes. After a failover, no other call refreshes it. */
export async function refreshOwners(redis: RedisClient): Promise<void> {
  if (!(redis instanceof Cluster)) return
  const refreshed = Promise.withResolvers<void>()
  redis.refreshSlotsCache(() => refreshed.resolve())
  await refreshed.promise
}
