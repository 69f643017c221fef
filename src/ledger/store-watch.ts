/**
 * Whether the store takes what paid requests write, asked in the background and of each node by itself: a store that answers may
 * still refuse every write. New requests stop before its memory is full, so that those under way can settle.
 */
import { Cluster, type Redis } from 'ioredis'
import { GatewayError } from '@/chat/error'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import { commandTimeoutOf, type RedisClient } from '@/ledger/store/connection'
import { addressOf, ownerOf } from '@/ledger/store/epoch-guard'
import { probeNames, shardOf } from '@/ledger/store/names'
import { createScriptRunner, type ScriptRunner } from '@/ledger/store/script-runner'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'

/** Why a node takes no paid request. Only `unreachable` may be a moment's matter, which each request finds out for itself. */
type StoreFault =
  | 'full'
  | 'may_evict'
  | 'out_of_memory'
  | 'read_only'
  | 'disk_error'
  | 'too_few_replicas'
  | 'forbidden'
  | 'unreachable'

type StoreState = {
  /** What is wrong with every node; undefined where one of them is sound. */
  fault: StoreFault | undefined
  /** What is wrong with some node. */
  partFault: StoreFault | undefined
  /** Of the fullest node, the part of `maxmemory` that is in use; 0 where there is no such limit. */
  memoryShare: number
}

export interface StoreWatch extends BackgroundWorker {
  /** Whether a new paid request of this account must not be tried. Asks nobody. */
  isClosedTo(accountId: string): boolean
  /** What the last look has found. */
  state(): StoreState
  /** The same, after another look where the last one is not of this moment. All who ask meanwhile share it. Never rejects. */
  look(): Promise<StoreState>
}

type StoreWatchOptions = {
  redis: RedisClient
  logger: Logger
  /** The part of `maxmemory` from which on nothing new is taken. */
  fullShare: number
}

const INTERVAL_MS = 1_000
const JITTER = 0.25
/** However often readiness is asked, the store is probed no more often than this. */
const FRESH_MS = 500
const SOUND: StoreState = { fault: undefined, partFault: undefined, memoryShare: 0 }

/** By the words of a store's refusal. */
const FAULTS: readonly [RegExp, StoreFault][] = [
  [/NOPERM|The user executing the script/, 'forbidden'],
  [/^OOM/, 'out_of_memory'],
  [/^READONLY/, 'read_only'],
  [/^MISCONF/, 'disk_error'],
  [/^NOREPLICAS/, 'too_few_replicas'],
]

/** Creates a watch that has not looked yet, and until then keeps nobody out. */
export function createStoreWatch({ redis, logger, fullShare }: StoreWatchOptions): StoreWatch {
  const runner = createScriptRunner(redis, commandTimeoutOf(redis))
  const closed = ALL_SHARDS.map(() => false)
  let state = SOUND
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let looking: Promise<StoreState> | undefined

  async function lookNow(): Promise<StoreState> {
    const nodes = await Promise.all(nodesOf(redis).map((node) => lookAt(node, runner, fullShare)))
    for (const { shards, fault } of nodes)
      for (const shard of shards) closed[shard] = fault !== undefined && fault !== 'unreachable'
    const next = combine(nodes)
    if (next.partFault !== state.partFault) note(logger, next)
    state = next
    lookedAtMs = performance.now()
    return state
  }

  async function look(): Promise<StoreState> {
    if (performance.now() - lookedAtMs < FRESH_MS) return state
    looking ??= lookNow().finally(() => {
      looking = undefined
    })
    return await looking
  }

  const loop = createWorkerLoop({
    async round() {
      await look()
      return jittered(INTERVAL_MS, JITTER)
    },
    onFailure(error) {
      logger.warn('store_watch_failed', { error })
      return jittered(INTERVAL_MS, JITTER)
    },
    stopTimeoutMs: INTERVAL_MS,
  })
  return {
    start: loop.start,
    stop: loop.stop,
    isClosedTo: (accountId) => closed[shardOf(accountId)] ?? false,
    state: () => state,
    look,
  }
}

type WatchedNode = { node: Redis; shards: readonly number[] }
type NodeState = { shards: readonly number[]; fault: StoreFault | undefined; memoryShare: number }

function nodesOf(redis: RedisClient): WatchedNode[] {
  if (!(redis instanceof Cluster)) return [{ node: redis, shards: ALL_SHARDS }]
  return redis.nodes('master').map((node) => {
    const address = addressOf(node)
    return { node, shards: ALL_SHARDS.filter((shard) => ownerOf(redis, shard) === address) }
  })
}

async function lookAt({ node, shards }: WatchedNode, runner: ScriptRunner, fullShare: number): Promise<NodeState> {
  const [shard] = shards
  try {
    const { memoryShare, mayEvict } = readMemory(await runner.guard(() => node.info('memory')))
    if (mayEvict) return { shards, memoryShare, fault: 'may_evict' }
    if (memoryShare >= fullShare) return { shards, memoryShare, fault: 'full' }
    return { shards, memoryShare, fault: shard === undefined ? undefined : await probe(runner, shard) }
  } catch (error) {
    return { shards, memoryShare: 0, fault: faultOf(error) }
  }
}

async function probe(runner: ScriptRunner, shard: number): Promise<StoreFault | undefined> {
  try {
    await runner.run(SCRIPTS.probe, probeNames(shard), [])
    return undefined
  } catch (error) {
    return faultOf(error)
  }
}

/** Buffers of replicas and of the file are not what the limit counts. */
function readMemory(info: string): { memoryShare: number; mayEvict: boolean } {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? ''
  const limit = Number(field('maxmemory'))
  if (!(limit > 0)) return { memoryShare: 0, mayEvict: false }
  const used = Number(field('used_memory')) - Number(field('mem_not_counted_for_evict'))
  return { memoryShare: used / limit, mayEvict: field('maxmemory_policy') !== 'noeviction' }
}

function faultOf(error: unknown): StoreFault {
  const cause = error instanceof GatewayError ? error.cause : error
  const text = cause instanceof Error ? cause.message : ''
  return FAULTS.find(([pattern]) => pattern.test(text))?.[1] ?? 'unreachable'
}

function combine(nodes: readonly NodeState[]): StoreState {
  const faults = nodes.map(({ fault }) => fault)
  const partFault = nodes.length === 0 ? 'unreachable' : faults.find((fault) => fault !== undefined)
  const fault = faults.includes(undefined) ? undefined : partFault
  return { fault, partFault, memoryShare: Math.max(0, ...nodes.map(({ memoryShare }) => memoryShare)) }
}

function note(logger: Logger, { partFault: fault, memoryShare }: StoreState): void {
  if (fault === undefined) logger.info('store_takes_requests', { memoryShare })
  else logger.error('store_refuses_requests', { fault, memoryShare })
}
