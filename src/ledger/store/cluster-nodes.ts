/** The connections behind a client: which node of a cluster serves a shard, and how to ask again. */
import { Cluster, type Redis } from 'ioredis'
import { slotOf } from './cluster-slot'
import type { RedisClient } from './connection'
import { metaName } from './names'

/** The connection to the server of a shard; undefined while no node is known to serve it. A node's connection is never made anew. */
export function nodeOf(redis: RedisClient, shard: number): Redis | undefined {
  if (!(redis instanceof Cluster)) return redis
  const owner = ownerOf(redis, shard)
  return redis.nodes('master').find((node) => addressOf(node) === owner)
}

/** A node's host:port. */
export function addressOf(node: Redis): string {
  return `${node.options.host}:${node.options.port}`
}

/** The node (host:port) that serves a shard. */
export function ownerOf(cluster: Cluster, shard: number): string {
  return cluster.slots[slotOf(metaName(shard))]?.[0] ?? ''
}

/** Asks a cluster which node serves what: after a failover no other call would. */
export async function refreshOwners(redis: RedisClient): Promise<void> {
  if (!(redis instanceof Cluster)) return
  const refreshed = Promise.withResolvers<void>()
  redis.refreshSlotsCache(() => refreshed.resolve())
  await refreshed.promise
}
