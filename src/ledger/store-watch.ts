import { Cluster, type Redis } from 'ioredis'
import { GatewayError } from '@/chat/error'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import { addressOf, ownerOf } from '@/ledger/store/cluster-nodes'
import { commandTimeoutOf, FORBIDDEN, FORBIDDEN_EVENT, keyPrefixOf, type RedisClient } from '@/ledger/store/connection'
import { probeNames, shardOf } from '@/ledger/store/names'
import { createScriptRunner, type ScriptRunner } from '@/ledger/store/script-runner'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import {
  CLUSTER_RIGHTS,
  findMissingRights,
  LEDGER_RIGHTS,
  type MissingRights,
  type Right,
  rightRefused,
} from './store-rights'

/** Why a node accepts no paid request. Only `unreachable` may end at any moment, so requests still try such a node. */
type StoreFault =
  | 'full'
  | 'may_evict'
  | 'out_of_memory'
  | 'read_only'
  | 'disk_error'
  | 'too_few_replicas'
  | 'forbidden'
  | 'unreachable'

export type StoreState = {
  /** The fault that all nodes have; undefined if one node has none. */
  fault: StoreFault | undefined
  /** The fault of one node that has a fault; undefined if no node has one. */
  partFault: StoreFault | undefined
  /** Permissions that the user lacks on any node, as ACL rules. `required`: nothing works; `optional`: monitoring, sign-in. */
  missing: MissingRights
  /** The used share of `maxmemory` of the fullest node, or of the machine's memory without that limit. */
  memoryShare: number
  /** The memory limit of the smallest node in bytes; 0 if no node reports it. */
  memoryLimit: number
}

export interface StoreWatch extends BackgroundWorker {
  /** Whether a new paid request of this account must not be tried. Without I/O; calls make the checks more frequent. */
  isClosedTo(accountId: string): boolean
  state(): StoreState
  /** Checks again if the last result is not fresh. Concurrent calls share one check. Never rejects. */
  look(): Promise<StoreState>
}

type StoreWatchOptions = {
  redis: RedisClient
  logger: Logger
  /** The used share of memory at which no new requests are accepted. */
  fullShare: number
  rights?: readonly Right[]
  /** Milliseconds between checks during requests or a fault. Default 1,000. */
  intervalMs?: number
  /** Milliseconds between checks without requests and faults. Default 5,000. */
  idleIntervalMs?: number
}

const INTERVAL_MS = 1_000
const IDLE_INTERVAL_MS = 5_000
const STOP_TIMEOUT_MS = 1_000
const JITTER = 0.25
/** The minimum interval of checks for readiness; or half of `intervalMs`, if that is shorter. */
const FRESH_MS = 500
/** Permissions are checked after a connection or a refusal, and at this interval, since an idle gateway should send little. */
const RIGHTS_INTERVAL_MS = 60_000
const NONE_MISSING: MissingRights = { required: [], optional: [] }
const SOUND: StoreState = {
  fault: undefined,
  partFault: undefined,
  missing: NONE_MISSING,
  memoryShare: 0,
  memoryLimit: 0,
}

const FAULTS: readonly [RegExp, StoreFault][] = [
  [FORBIDDEN, 'forbidden'],
  [/^OOM/, 'out_of_memory'],
  [/^READONLY/, 'read_only'],
  [/^MISCONF/, 'disk_error'],
  [/^NOREPLICAS/, 'too_few_replicas'],
]

/**
 * Whether Redis accepts the writes of paid requests. Checked in the background for each node, since a node that answers may refuse writes.
 * New requests stop before a node's memory is full, so that open ones can settle. Missing permissions are reported by name. Readiness
 * uses the same result. Creates a watch. It refuses nothing before its first check.
 */
export function createStoreWatch(options: StoreWatchOptions): StoreWatch {
  const { redis, logger, fullShare, rights = [] } = options
  const { intervalMs = INTERVAL_MS, idleIntervalMs = IDLE_INTERVAL_MS } = options
  const freshMs = Math.min(FRESH_MS, intervalMs / 2)
  const runner = createScriptRunner(redis, commandTimeoutOf(redis))
  const ofCluster = redis instanceof Cluster ? CLUSTER_RIGHTS : []
  const deps = { redis, runner, fullShare, rights: [...LEDGER_RIGHTS, ...ofCluster, ...rights] }
  const closed = ALL_SHARDS.map(() => false)
  let state = SOUND
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let rightsSeenAtMs = Number.NEGATIVE_INFINITY
  let looking: Promise<StoreState> | undefined
  /** Whether there was a request or a connection change since the last check. */
  let isAsked = false
  const stayClose = () => {
    if (isAsked) return
    isAsked = true
    loop.hurry(intervalMs)
  }
  const doubtRights = () => {
    rightsSeenAtMs = Number.NEGATIVE_INFINITY
  }
  const noteForbidden = () => {
    doubtRights()
    // The next readiness call checks again, so that it reports the refusal at once.
    if (state.partFault === undefined) lookedAtMs = Number.NEGATIVE_INFINITY
  }
  const lookAgain = () => {
    lookedAtMs = Number.NEGATIVE_INFINITY
  }
  const events = [
    ['ready', doubtRights],
    ['+node', doubtRights],
    ['ready', lookAgain],
    [FORBIDDEN_EVENT, noteForbidden],
    ...(['ready', 'close', '+node', '-node', 'node error', FORBIDDEN_EVENT] as const).map(
      (event) => [event, stayClose] as const,
    ),
  ] as const
  for (const [event, listener] of events) redis.on(event, listener)

  async function lookNow(): Promise<StoreState> {
    isAsked = false
    const startedAtMs = performance.now()
    const areRightsDue = state.missing.required.length > 0 || startedAtMs - rightsSeenAtMs > RIGHTS_INTERVAL_MS
    if (areRightsDue) rightsSeenAtMs = startedAtMs
    const nodes = await Promise.all(nodesOf(redis).map((node) => lookAt(node, deps, areRightsDue)))
    for (const { shards, fault } of nodes)
      for (const shard of shards) closed[shard] = fault !== undefined && fault !== 'unreachable'
    const next = combine(nodes)
    if (!areRightsDue && next.partFault === undefined) next.missing.optional = state.missing.optional
    note(logger, state, next)
    state = next
    lookedAtMs = performance.now()
    if (isUnwell()) loop.hurry(intervalMs)
    return state
  }

  async function look(): Promise<StoreState> {
    if (performance.now() - lookedAtMs < freshMs) return state
    looking ??= lookNow().finally(() => {
      looking = undefined
    })
    return await looking
  }

  function isUnwell(): boolean {
    return state.partFault !== undefined || state.missing.required.length > 0
  }

  const loop = createWorkerLoop({
    async round() {
      await look()
      return jittered(isAsked || isUnwell() ? intervalMs : idleIntervalMs, JITTER)
    },
    onFailure(error) {
      logger.warn('store_watch_failed', { error })
      return jittered(intervalMs, JITTER)
    },
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  return {
    start: loop.start,
    stop() {
      for (const [event, listener] of events) redis.off(event, listener)
      return loop.stop()
    },
    isClosedTo(accountId) {
      stayClose()
      return closed[shardOf(accountId)] ?? false
    },
    state: () => state,
    look,
  }
}

type WatchedNode = { node: Redis; shards: readonly number[] }
type NodeState = Omit<StoreState, 'partFault'> & { shards: readonly number[] }
type LookDeps = { redis: RedisClient; runner: ScriptRunner; fullShare: number; rights: readonly Right[] }

function nodesOf(redis: RedisClient): WatchedNode[] {
  if (!(redis instanceof Cluster)) return [{ node: redis, shards: ALL_SHARDS }]
  return redis.nodes('master').map((node) => {
    const address = addressOf(node)
    return { node, shards: ALL_SHARDS.filter((shard) => ownerOf(redis, shard) === address) }
  })
}

/** Checks one node, and if due or after a refusal, each permission of its user. */
async function lookAt({ node, shards }: WatchedNode, deps: LookDeps, areRightsDue: boolean): Promise<NodeState> {
  const { runner, fullShare } = deps
  const [shard] = shards
  const missing: MissingRights = { required: [], optional: [] }
  const found: NodeState = { shards, fault: undefined, memoryShare: 0, memoryLimit: 0, missing }
  try {
    const { memoryShare, memoryLimit, mayEvict } = readMemory(await runner.guard(() => node.info('memory')))
    Object.assign(found, { memoryShare, memoryLimit })
    if (mayEvict) found.fault = 'may_evict'
    else if (memoryShare >= fullShare) found.fault = 'full'
    else if (shard !== undefined) await runner.run(SCRIPTS.probe, probeNames(shard), [])
  } catch (error) {
    noteRefusal(found, error, deps.redis)
  }
  if (shard !== undefined && (areRightsDue || found.fault === 'forbidden')) await lookAtRights(found, deps, shard)
  return found
}

async function lookAtRights(found: NodeState, { redis, runner, rights }: LookDeps, shard: number): Promise<void> {
  try {
    const { required, optional } = await findMissingRights(redis, runner, shard, rights)
    if (required.length > 0) found.fault ??= 'forbidden'
    found.missing = { required: [...new Set([...found.missing.required, ...required])], optional }
  } catch (error) {
    noteRefusal(found, error, redis)
  }
}

function noteRefusal(found: NodeState, error: unknown, redis: RedisClient): void {
  const text = refusalOf(error)
  found.fault ??= FAULTS.find(([pattern]) => pattern.test(text))?.[1] ?? 'unreachable'
  const rule = rightRefused(text, keyPrefixOf(redis))
  if (rule !== undefined && !found.missing.required.includes(rule)) found.missing.required.push(rule)
}

function refusalOf(error: unknown): string {
  const cause = error instanceof GatewayError ? error.cause : error
  return cause instanceof Error ? cause.message : ''
}

/** Memory in use, without the buffers for replicas and for the append-only file. Without `maxmemory`, the machine's memory is the limit. */
function readMemory(info: string): Pick<StoreState, 'memoryShare' | 'memoryLimit'> & { mayEvict: boolean } {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? ''
  const own = Number(field('maxmemory'))
  const limit = own > 0 ? own : Number(field('total_system_memory'))
  if (!(limit > 0)) return { memoryShare: 0, memoryLimit: 0, mayEvict: false }
  const used = Number(field('used_memory')) - Number(field('mem_not_counted_for_evict'))
  return {
    memoryShare: used / limit,
    memoryLimit: limit,
    mayEvict: own > 0 && field('maxmemory_policy') !== 'noeviction',
  }
}

function combine(nodes: readonly NodeState[]): StoreState {
  const faults = nodes.map(({ fault }) => fault)
  const partFault = nodes.length === 0 ? 'unreachable' : faults.find((fault) => fault !== undefined)
  const fault = faults.includes(undefined) ? undefined : partFault
  const all = (kind: keyof MissingRights) => [...new Set(nodes.flatMap(({ missing }) => missing[kind]))]
  const missing = { required: all('required'), optional: all('optional') }
  const memoryShare = Math.max(0, ...nodes.map((node) => node.memoryShare))
  const limits = nodes.map(({ memoryLimit }) => memoryLimit).filter((limit) => limit > 0)
  return { fault, partFault, missing, memoryShare, memoryLimit: limits.length > 0 ? Math.min(...limits) : 0 }
}

function note(logger: Logger, before: StoreState, { partFault: fault, memoryShare, missing }: StoreState): void {
  const isSame = (kind: keyof MissingRights) => missing[kind].join() === before.missing[kind].join()
  if (fault === undefined) {
    if (before.partFault !== undefined) logger.info('store_takes_requests', { memoryShare })
  } else if (fault !== before.partFault || !isSame('required'))
    logger.error('store_refuses_requests', {
      fault,
      memoryShare,
      ...(missing.required.length > 0 && { missing: missing.required }),
    })
  if (!isSame('optional') && missing.optional.length > 0)
    logger.warn('store_rights_missing', { missing: missing.optional })
}
