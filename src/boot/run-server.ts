/** Runs one server process from stores that exist: listen, announce, and on a signal drain and leave in order. */
import type { Server } from 'bun'
import { warmTokenizer } from '@/catalog/estimate'
import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config/config'
import { requestsAnswered } from '@/http/silence'
import { withDeadline } from '@/lib/deadline'
import type { Logger } from '@/lib/logger'
import { compose, type Gateway } from './compose'
import { capConnections } from './connection-caps'
import { openSockets } from './open-sockets'
import { serve } from './serve'

/** The first requests get the processor for themselves; one whose prompt is counted before then starts the tokenizer itself. */
export const WARM_UP_DELAY_MS = 1_000

type RunningServer = { gateway: Gateway; address: string; stop(): Promise<void> }

type RunServerOptions = {
  config: Config
  catalog: Catalog
  redisUrl: string
  databaseUrl: string
  logger: Logger
}

/** Starts serving. Rejects where the port is taken or the store cannot be reached. */
export async function runServer(options: RunServerOptions): Promise<RunningServer> {
  const { config, logger } = options
  const gateway = await compose(options)
  const server = serve(config, gateway.app)
  const uncap = cap(config, server, logger)
  // Brings up what outgoing calls need: later, with no descriptor left, that would end the process.
  fetch.preconnect(`http://127.0.0.1:${server.port}`)
  logger.info('listening', { host: config.host, port: server.port })
  setTimeout(warmTokenizer, WARM_UP_DELAY_MS).unref()
  return {
    gateway,
    address: localAddress({ ...config, port: server.port ?? config.port }),
    stop() {
      uncap()
      return stop(config, gateway, server, logger)
    },
  }
}

/** Keeps strangers' connections within what the process has descriptors for, where the system can tell. */
function cap(config: Config, server: Server<undefined>, logger: Logger): () => void {
  const sockets = openSockets()
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
    logger,
  })
}

async function stop(config: Config, gateway: Gateway, server: Server<undefined>, logger: Logger): Promise<void> {
  logger.info('draining', { openRequests: gateway.deps.keeper.openCount() })
  gateway.drain()
  // Closes the listener; connections with an open answer live on until the answer has ended.
  const closed = server.stop()
  const unacknowledged = await gateway.stop(config.shutdownTimeoutMs)
  await withDeadline(closed, CLOSE_TIMEOUT_MS, () => undefined)
  await server.stop(true)
  logger.info('stopped', { unacknowledged })
}

const CLOSE_TIMEOUT_MS = 500

/** Where a browser on this machine finds the gateway. */
export function localAddress({ host, port }: { host: string; port: number }): string {
  const isAnyAddress = host === '0.0.0.0' || host === '::'
  return `http://${isAnyAddress ? 'localhost' : host}:${port}`
}
