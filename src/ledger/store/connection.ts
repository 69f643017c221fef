/** Connects to Redis: one server by TCP, TLS or unix socket, a Sentinel setup, or a cluster. */
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import { assert } from '@/lib/assert'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { isSentinelUrl, parseSentinelUrl } from '@/lib/sentinel-url'
import { waitPatiently } from './patient-commands'

/** A client of one server or of a cluster, with the same commands. */
export type RedisClient = Redis | Cluster

type ConnectionOptions = {
  logger: Logger
  /** Time limit for a command's reply while this process runs normally. Default 1,000 ms. */
  commandTimeoutMs?: number
  /** The prefix of all names in commands and scripts. Code that reads names from a reply or a scan removes it. */
  keyPrefix?: string
  /** Shown in CLIENT LIST. */
  name?: string
  /** Whether commands of one tick are pipelined (default); off for a blocking connection. */
  autoPipelining?: boolean
}

export const FORBIDDEN = /NOPERM|The user executing the script|ACL failure/
/** The event that {@link tellIfForbidden} emits. */
export const FORBIDDEN_EVENT = 'forbidden'

const CLOSED = 'the connection to Redis was closed'
const DEFAULT_COMMAND_TIMEOUT_MS = 1_000
const CONNECT_TIMEOUT_MS = 2_000
const FIRST_RETRY_MS = 50
const MAX_RETRY_MS = 2_000
/** Retries for a moved slot or node, within a command's time limit. While a slot moves, one command may be redirected often. */
const CLUSTER_MAX_RETRIES = 8
const CLUSTER_RETRY_MS = 50
/** An idle client detects a failover in this time; a busy one, at once. */
const CLUSTER_REFRESH_MS = 5_000

/**
 * Returns a client that connects, and reconnects by itself with growing, jittered pauses. `url` is `redis://`, `rediss://`, `unix:///path`
 * (with `?password=…`), a plain path, several comma-separated nodes of a cluster, or `redis+sentinel://` with the Sentinels of the primary
 * (lib/sentinel-url.ts). Without a connection, commands fail at once instead of queueing. A lost connection fails the commands in flight,
 * so that paid requests are refused quickly. Callers resend by id what must not be lost.
 */
export function connectRedis(url: string, options: ConnectionOptions): RedisClient {
  waitPatiently()
  const client = createClient(url, options)
  // ioredis writes errors without a listener to the console. The status events are logged as warnings.
  client.on('error', (error: Error) => options.logger.debug('redis_error', { error }))
  // Emitted only for a lost connection, not for our own close.
  client.on('reconnecting', () => options.logger.warn('redis_disconnected'))
  client.on('ready', () => options.logger.info('redis_connected'))
  return client
}

/** Waits until `client` can take commands. Rejects after `timeoutMs`, or if the client was closed. */
export async function waitForRedis(client: RedisClient, timeoutMs: number): Promise<void> {
  if (client.status === 'ready') return
  if (client.status === 'end') throw new Error(CLOSED)
  const ready = Promise.withResolvers<void>()
  const onReady = () => ready.resolve()
  const onEnd = () => ready.reject(new Error(CLOSED))
  client.once('ready', onReady)
  client.once('end', onEnd)
  try {
    await withDeadline(ready.promise, timeoutMs, () => {
      throw new Error('Redis did not answer in time')
    })
  } finally {
    client.off('ready', onReady)
    client.off('end', onEnd)
  }
}

/** Emits an event if a command of `client` failed because of a missing permission. */
export function tellIfForbidden(client: RedisClient, error: unknown): void {
  if (error instanceof Error && FORBIDDEN.test(error.message)) client.emit(FORBIDDEN_EVENT)
}

/** The prefix of all names of `client`; empty by default. */
export function keyPrefixOf(client: RedisClient): string {
  return String(client.options.keyPrefix ?? '')
}

/** The time limit for a command's reply, in milliseconds. */
export function commandTimeoutOf(client: RedisClient): number {
  const options = client instanceof Cluster ? client.options.redisOptions : client.options
  return options?.commandTimeout ?? DEFAULT_COMMAND_TIMEOUT_MS
}

function createClient(url: string, options: ConnectionOptions): RedisClient {
  if (isSentinelUrl(url)) return connectBySentinels(url, options)
  const nodes = url.split(',').map((node) => node.trim())
  return nodes.length > 1 ? connectCluster(nodes, options) : connectServer(nodes[0] ?? '', options)
}

function connectBySentinels(url: string, options: ConnectionOptions): Redis {
  const address = parseSentinelUrl(url)
  assert(address, 'an address of Sentinels was checked when it was read')
  const { isTls, database, ...known } = address
  return new Redis({
    ...aloneOptions(options),
    ...known,
    db: database,
    role: 'master',
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    // A primary that was cut off from the others still answers, but later loses everything written meanwhile.
    failoverDetector: true,
    ...(isTls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  })
}

function connectServer(url: string, options: ConnectionOptions): Redis {
  const base = aloneOptions(options)
  if (url.startsWith('/')) return new Redis({ ...base, path: url })
  if (!url.startsWith('unix:')) return new Redis(url, base)
  const { pathname, searchParams } = new URL(url)
  const password = searchParams.get('password')
  return new Redis({ ...base, path: decodeURIComponent(pathname), ...(password === null ? {} : { password }) })
}

function connectCluster(urls: readonly string[], options: ConnectionOptions): Cluster {
  const nodes = urls.map((url) => new URL(url.includes('://') ? url : `redis://${url}`))
  const first = nodes[0]
  const credentials: RedisOptions = {}
  if (first?.username) credentials.username = decodeURIComponent(first.username)
  if (first?.password) credentials.password = decodeURIComponent(first.password)
  if (first?.protocol === 'rediss:') credentials.tls = {}
  const clusterOptions: ClusterOptions = {
    enableOfflineQueue: false,
    keyPrefix: options.keyPrefix ?? '',
    enableAutoPipelining: options.autoPipelining ?? true,
    clusterRetryStrategy: retryPause,
    maxRedirections: CLUSTER_MAX_RETRIES,
    slotsRefreshInterval: CLUSTER_REFRESH_MS,
    retryDelayOnFailover: CLUSTER_RETRY_MS,
    retryDelayOnClusterDown: CLUSTER_RETRY_MS,
    retryDelayOnTryAgain: CLUSTER_RETRY_MS,
    // Two nodes may redirect to each other until both know that a slot has moved.
    retryDelayOnMoved: CLUSTER_RETRY_MS,
    redisOptions: { ...serverOptions(options), ...credentials },
  }
  return new Cluster(
    nodes.map((node) => ({ host: node.hostname, port: Number(node.port || 6379) })),
    clusterOptions,
  )
}

function aloneOptions(options: ConnectionOptions): RedisOptions {
  const { keyPrefix = '' } = options
  return { ...serverOptions(options), keyPrefix, enableOfflineQueue: false, retryStrategy: retryPause }
}

function serverOptions(options: ConnectionOptions): RedisOptions {
  return {
    connectionName: options.name ?? 'gateway',
    commandTimeout: options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableAutoPipelining: options.autoPipelining ?? true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // After a failover behind one address, the old connection leads to a replica: only a new one finds the master.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  }
}

/** Doubles from 50 ms to 2 s, with random jitter of up to half. */
function retryPause(attempt: number): number {
  const pause = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10))
  return Math.round(pause * (0.5 + Math.random() / 2))
}
