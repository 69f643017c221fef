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
  /** The metrics of all processes of this gateway, if there are several. */
  exposition?: () => Promise<string>
  reloading: Reloading
  threads: Promise<void>
}

/** Runs one server process: listens, and at a signal drains and stops in order. Rejects if the port is taken or Redis is unreachable. */
export async function runServer(options: RunServerOptions): Promise<RunningServer> {
  const { config, catalog } = options
  const telemetry = await loadTelemetry(config, catalog, options.logger)
  const logger = telemetry?.logger ?? options.logger
  const journalFolder = config.hasSettlementJournal ? join(config.dataDir, 'settlements') : undefined
  const gateway = await compose({ ...options, logger, journalFolder, tracing: telemetry?.tracing })
  telemetry?.include(gateway.deps.metrics)
  const trace = telemetry && traceRequests(telemetry.tracing, gateway.app.routes)
  // Parts that need a descriptor start before the listener, since clients may use up all descriptors.
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
      // Ctrl-C stops at once, without a wait for proxies to notice.
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

/** Limits the connections of unknown clients, if the system supports it. */
function cap({ config, server, sockets, onEnded, logger }: CapOptions): () => void {
  if (!sockets) {
    logger.warn('connections_not_capped', { hint: 'Only Linux reports connections: put a proxy in front.' })
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
 * Serves until proxies have noticed the stop: readiness fails, and every connection closes after its next answer. Then new connections are
 * held back for a moment, while requests in transit arrive. Closing the listener earlier would break connections whose request was already
 * sent, which proxies may not repeat. At last, connections that proxies keep open are served until they close. Returns the milliseconds of
 * this last part, which count as time for open answers.
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
  // Pages that watch an account would keep their connections open; they reconnect to another gateway.
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
/** Time for a handshake and a request to arrive. Short, since a connection that is held back retries only after a second. */
const ARRIVAL_MS = 50

async function stop(
  { logger }: RunServerOptions,
  gateway: Gateway,
  server: Server<undefined>,
  timeoutMs: number,
): Promise<void> {
  logger.info('draining', { openRequests: gateway.deps.keeper.openCount() })
  gateway.leave()
  // Closes the listener and idle connections; those with an open answer stay until it ends.
  const closed = server.stop()
  const unacknowledged = await gateway.stop(timeoutMs, () => server.pendingRequests)
  await withDeadline(closed, CLOSE_TIMEOUT_MS, () => undefined)
  await server.stop(true)
  logger.info('stopped', { unacknowledged })
}

const CLOSE_TIMEOUT_MS = 500
/** Minimum time to export the last spans, even if answers used up all the time. */
const MIN_FLUSH_MS = 500
const MAX_FLUSH_MS = 5_000
