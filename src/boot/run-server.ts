/** Runs one server process from stores that exist: listen, announce, and on a signal drain and leave in order. */
import { join } from 'node:path'
import type { Server } from 'bun'
import { loadTelemetry } from '@/boot/telemetry/load'
import { traceRequests } from '@/boot/telemetry/trace-requests'
import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config/config'
import { requestsAnswered } from '@/http/silence'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { compose, type Gateway } from './compose'
import { capConnections } from './connection-caps'
import { type OpenSockets, openSockets } from './open-sockets'
import { localAddress, onPort } from './port'
import type { Reloading } from './reload/assemble'
import { serve } from './serve'

type RunningServer = { gateway: Gateway; address: string; reload(): void; stop(signal: NodeJS.Signals): Promise<void> }

type RunServerOptions = {
  config: Config
  catalog: Catalog
  redisUrl: string
  databaseUrl: string
  logger: Logger
  /** The metrics of all processes of this gateway, where it has several. */
  exposition?: () => Promise<string>
  reloading: Reloading
  /** Resolves once the threads of this process run. */
  threads: Promise<void>
}

/** Starts serving. Rejects if the port is taken or the store cannot be reached. */
export async function runServer(options: RunServerOptions): Promise<RunningServer> {
  const { config, catalog } = options
  const telemetry = await loadTelemetry(config, catalog, options.logger)
  const logger = telemetry?.logger ?? options.logger
  const journalFolder = config.hasSettlementJournal ? join(config.dataDir, 'settlements') : undefined
  const gateway = await compose({ ...options, logger, journalFolder, tracing: telemetry?.tracing })
  telemetry?.include(gateway.deps.metrics)
  const trace = telemetry && traceRequests(telemetry.tracing, gateway.app.routes)
  // Parts that need a descriptor come before the listener: strangers may use up all descriptors.
  const sockets = openSockets()
  await options.threads
  const server = onPort(config, () => serve(config, gateway.app, { isLeaving: gateway.deps.isLeaving, trace }))
  const uncap = cap({ config, server, sockets, onEnded: gateway.deps.metrics.connectionsEnded, logger })
  logger.info('listening', { host: config.host, port: server.port })
  return {
    gateway,
    address: localAddress({ ...config, port: server.port ?? config.port }),
    reload: () => void gateway.deps.reloads?.reload(),
    async stop(signal) {
      // After Ctrl-C no proxy has to notice first.
      const isAwaited = signal === 'SIGTERM' && config.drainDelayMs > 0
      const usedMs = isAwaited ? await leave(options, gateway, server) : 0
      uncap()
      const startedMs = performance.now()
      await stop(options, gateway, server, Math.max(0, config.shutdownTimeoutMs - usedMs))
      const leftMs = config.shutdownTimeoutMs - usedMs - (performance.now() - startedMs)
      await telemetry?.stop(Math.min(Math.max(leftMs, MIN_FLUSH_MS), MAX_FLUSH_MS))
    },
  }
}

type CapOptions = {
  config: Config
  server: Server<undefined>
  sockets: OpenSockets | undefined
  onEnded(count: number): void
  logger: Logger
}

/** Keeps strangers' connections within what the process has descriptors for, where the system can tell. */
function cap({ config, server, sockets, onEnded, logger }: CapOptions): () => void {
  if (!sockets) {
    logger.warn('connections_not_capped', { hint: 'Only Linux tells of connections: put a proxy in front.' })
    return () => undefined
  }
  return capConnections({
    sockets,
    localPort: server.port ?? config.port,
    perAddress: config.connectionsPerAddress,
    knownCount: () => requestsAnswered().size,
    knownPorts: () => new Set([...requestsAnswered()].flatMap((request) => server.requestIP(request)?.port ?? [])),
    onEnded,
    logger,
  })
}

/**
 * Serves on until proxies have noticed: readiness says that this process leaves, and every connection is let go with its next
 * answer. Then no new connection is let in for a moment, in which those on their way arrive: a listener that closes would
 * break their connections with the request already sent, which no proxy may send again. Last, connections that a proxy still
 * keeps, since their answer had begun before, are served until it has let go of them. Returns the milliseconds that this last
 * part took, which are those of answers that were under way.
 */
async function leave(
  { config, logger }: RunServerOptions,
  gateway: Gateway,
  server: Server<undefined>,
): Promise<number> {
  const port = server.port ?? config.port
  logger.info('leaving', { delayMs: config.drainDelayMs })
  gateway.leave()
  await Bun.sleep(config.drainDelayMs)
  const sockets = openSockets()
  if (!sockets) return 0
  sockets.turnAwayNewcomers(port)
  await Bun.sleep(ARRIVAL_MS)
  sockets.closeListener(port)
  // Pages that watch an account would keep their connections for good; they ask again, another gateway.
  gateway.deps.dashboard.liveAccounts.stop()
  const closedMs = performance.now()
  let quietSinceMs = closedMs
  for (let nowMs = closedMs; nowMs - closedMs < config.shutdownTimeoutMs; nowMs = performance.now()) {
    if (server.pendingRequests > 0) quietSinceMs = nowMs
    else if (nowMs - quietSinceMs > config.drainDelayMs || sockets.list(port).length === 0) break
    await Bun.sleep(QUIET_POLL_MS)
  }
  return performance.now() - closedMs
}

const QUIET_POLL_MS = 20
/** For a handshake and a request between a proxy and here. Short, since a connection that is held back retries only after a second. */
const ARRIVAL_MS = 50

/** Waits at most `timeoutMs` for open answers. */
async function stop(
  { logger }: RunServerOptions,
  gateway: Gateway,
  server: Server<undefined>,
  timeoutMs: number,
): Promise<void> {
  logger.info('draining', { openRequests: gateway.deps.keeper.openCount() })
  gateway.leave()
  // Closes the listener and idle connections; those with an open answer live on until the answer has ended.
  const closed = server.stop()
  const unacknowledged = await gateway.stop(timeoutMs, () => server.pendingRequests)
  await withDeadline(closed, CLOSE_TIMEOUT_MS, () => undefined)
  await server.stop(true)
  logger.info('stopped', { unacknowledged })
}

const CLOSE_TIMEOUT_MS = 500
/** What the last spans get to reach their collector: something even where answers took all the time. */
const MIN_FLUSH_MS = 500
const MAX_FLUSH_MS = 5_000
