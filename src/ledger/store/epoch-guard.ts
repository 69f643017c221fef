/** Detects that Redis was emptied, restarted, restored or failed over, so that accounts are compared with Postgres again. */
import { Cluster, type Redis } from 'ioredis'
import { otherLayout } from '@/ledger/other-layout'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { AssertionError, assert } from '@/lib/assert'
import type { Logger } from '@/lib/logger'
import { ALL_SHARDS } from './all-shards'
import { addressOf, nodeOf, ownerOf, refreshOwners } from './cluster-nodes'
import type { RedisClient } from './connection'
import { beginningOf, freshEpoch, readEpoch, startEpoch } from './epoch'
import { LAYOUT, metaName, SHARD_COUNT } from './names'
import { listOf, wordOf } from './reply'
import { type ScriptRunner, storeUnavailable } from './script-runner'

export interface EpochGuard {
  /** The connection on which `shard` was verified; undefined if it must be verified again. */
  verified(shard: number): Redis | undefined
  /** Resolves to that connection, and verifies the shard first if needed. */
  ensure(shard: number): Promise<Redis>
  /** Call it if expected data is missing: detects that Redis was emptied without a lost connection. */
  doubt(shard: number): Promise<void>
  /** Calls `listener` when Redis may have been replaced, or may have lost its last seconds. */
  onReturn(listener: () => void): void
  /** The shard's last verified epoch; undefined without one. */
  known(shard: number): string | undefined
  /** When the latest epoch of all shards began, in ms since 1970; Infinity while a shard is not verified. */
  sinceMs(): number
}

const LEAST_VERSION = 7
const MAX_ATTEMPTS = 3
/** Minimum pause between two queries for the slots of a partly unavailable cluster. */
const MIN_REFRESH_MS = 500

/**
 * Creates the guard of one client. Every change of a shard's connection (a break, another node) makes the next `ensure` verify it again. In
 * a cluster, an unreachable shard doesn't block the others.
 */
export function createEpochGuard(redis: RedisClient, runner: ScriptRunner, logger: Logger): EpochGuard {
  /** Verified connections, by shard. Another connection may lead to another server. */
  const verified = new Map<number, Redis>()
  /** Running verifications by shard. Only callers for the same shard wait. */
  const verifications = new Map<number, Promise<void>>()
  /** How often each shard's connection has changed: a change invalidates a running verification. */
  const changes = ALL_SHARDS.map(() => 0)
  const epochs = new Map<number, string>()
  /** When the epochs began, by shard. */
  const beginnings = new Map<number, number>()
  const listeners: (() => void)[] = []
  let nextRefreshAt = 0
  const invalidate = (shard: number) => {
    verified.delete(shard)
    changes[shard] = (changes[shard] ?? 0) + 1
  }
  const tell = () => {
    for (const listener of listeners) listener()
  }
  watchConnections(redis, invalidate, tell)

  /** Verifies all unverified shards, since after a break all of them need it. */
  function verifyAll(): void {
    const before = [...changes]
    const shards = ALL_SHARDS.filter((shard) => !verified.has(shard) && !verifications.has(shard))
    const owners = findOwners()
    const verification = createVerification(redis, runner)
    let renewed = 0
    const verifyOne = async (shard: number) => {
      await owners
      const found = await verification(shard)
      if (!found) return
      if (found.isNew) renewed++
      noteEpoch(shard, found.epoch)
      if (before[shard] === changes[shard]) verified.set(shard, found.connection)
    }
    for (const shard of shards)
      verifications.set(
        shard,
        verifyOne(shard).finally(() => verifications.delete(shard)),
      )
    void Promise.allSettled(shards.map((shard) => verifications.get(shard))).then(() => {
      if (renewed > 0) logger.info('ledger_epoch_changed', { shards: renewed })
    })
  }

  function noteEpoch(shard: number, epoch: string): void {
    if (epochs.get(shard) === epoch) return
    epochs.set(shard, epoch)
    beginnings.set(shard, beginningOf(epoch))
  }

  async function findOwners(): Promise<void> {
    if (!(redis instanceof Cluster) || performance.now() <= nextRefreshAt) return
    nextRefreshAt = performance.now() + MIN_REFRESH_MS
    if (ALL_SHARDS.some((shard) => !nodeOf(redis, shard))) await refreshOwners(redis)
  }

  async function ensure(shard: number): Promise<Redis> {
    for (let attempt = 0; attempt <= MAX_ATTEMPTS; attempt++) {
      const connection = verified.get(shard)
      if (connection) return connection
      if (!verifications.has(shard)) verifyAll()
      await verifications.get(shard)
    }
    throw storeUnavailable(new Error('the store behind this shard could not be verified'))
  }

  return {
    verified: (shard) => verified.get(shard),
    ensure,
    async doubt(shard) {
      const known = epochs.get(shard)
      const epoch = await runner.guard(() => readEpoch(redis, shard), 'identity')
      if (known === undefined || epoch === known || epochs.get(shard) !== known) return
      epochs.clear()
      ALL_SHARDS.forEach(invalidate)
      tell()
    },
    onReturn: (listener) => void listeners.push(listener),
    known: (shard) => epochs.get(shard),
    sinceMs: () => (verified.size < SHARD_COUNT ? Number.POSITIVE_INFINITY : Math.max(...beginnings.values())),
  }
}

/** Calls `invalidate` for every shard whose connection may have changed, and `tell` after a reconnection or a move of shards. */
function watchConnections(redis: RedisClient, invalidate: (shard: number) => void, tell: () => void): void {
  for (const event of ['ready', 'close']) redis.on(event, () => ALL_SHARDS.forEach(invalidate))
  for (const event of ['ready', '+node']) redis.on(event, tell)
  if (!(redis instanceof Cluster)) return
  const invalidateNode = (address: string) => {
    for (const shard of ALL_SHARDS) if (ownerOf(redis, shard) === address) invalidate(shard)
  }
  for (const event of ['+node', '-node']) redis.on(event, (node: Redis) => invalidateNode(addressOf(node)))
  redis.on('node error', (_error: Error, address: string) => invalidateNode(address))
  let owners: string[] = []
  redis.on('refresh', () => {
    const now = ALL_SHARDS.map((shard) => ownerOf(redis, shard))
    const moved = ALL_SHARDS.filter((shard) => now[shard] !== owners[shard])
    owners = now
    moved.forEach(invalidate)
    if (moved.length > 0) tell()
  })
}

/**
 * Compares the server's identity with the one stored in each shard, and starts a new epoch if it changed. Skips unreachable shards; throws
 * if no shard is reachable. Throws if Redis has another layout, is too old, or would evict money when its memory is full.
 */
export async function verifyEpoch(redis: RedisClient, runner: ScriptRunner): Promise<void> {
  const work = ALL_SHARDS.map(createVerification(redis, runner))
  const results = await Promise.allSettled(work)
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  const defect = failures.find((failure) => failure instanceof AssertionError)
  const isAnyFound = results.some((result) => result.status === 'fulfilled' && result.value)
  if (defect || (failures.length > 0 && !isAnyFound)) throw defect ?? failures[0]
}

type Verified = { connection: Redis; isNew: boolean; epoch: string }

/** Verifies each shard on one connection, so that identity and epoch are those of one server. Undefined if no node serves the shard. */
function createVerification(
  redis: RedisClient,
  runner: ScriptRunner,
): (shard: number) => Promise<Verified | undefined> {
  const fresh = freshEpoch()
  const identities = new Map<Redis, Promise<string>>()
  function identityOf(connection: Redis): Promise<string> {
    const known = identities.get(connection) ?? readIdentity(connection, runner)
    identities.set(connection, known)
    return known
  }
  return (shard) =>
    runner.guard(async () => {
      const connection = nodeOf(redis, shard)
      if (!connection) return undefined
      const args = [await identityOf(connection), fresh, LAYOUT]
      const reply = listOf(await runner.runOn(connection, SCRIPTS.epoch, [metaName(shard)], args))
      assert(reply[0] !== 'other_layout', otherLayout(wordOf(reply[1])))
      return { connection, isNew: reply[0] === 'new', epoch: wordOf(reply[1]) }
    })
}

/** Starts a new epoch in every shard. */
export async function startEpochs(redis: RedisClient, runner: ScriptRunner): Promise<void> {
  await runner.guard(() => Promise.all(ALL_SHARDS.map((shard) => startEpoch(redis, shard))))
}

/** The server's run and replication ids: a restart, a promotion and a restored backup each change them. */
async function readIdentity(node: Redis, runner: ScriptRunner): Promise<string> {
  const info = await runner.guard(() => node.info('server', 'replication', 'memory'), 'identity')
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? ''
  assert(Number.parseInt(field('redis_version'), 10) >= LEAST_VERSION, 'the store must be Redis 7 or newer')
  const mayEvict = field('maxmemory') !== '0' && field('maxmemory_policy') !== 'noeviction'
  assert(!mayEvict, 'the store would evict balances: set maxmemory-policy to noeviction')
  return `${field('run_id')}:${field('master_replid')}`
}
