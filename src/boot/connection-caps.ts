import type { Logger } from '@/lib/logger'
import { networkOf } from '@/lib/quota/network'
import type { OpenSocket, OpenSockets } from './open-sockets'

type ConnectionCapsOptions = {
  /** Maximum connections of one network, except those that answer a known caller. Infinite behind proxies, which have many clients. */
  perAddress: number
  sockets: Pick<OpenSockets, 'limit' | 'count' | 'list' | 'end'>
  localPort: number
  /** The client ports of connections that answer a known caller now. */
  knownPorts(): Set<number>
  /** The number of `knownPorts`, without building the set. */
  knownCount(): number
  onEnded(count: number): void
  logger: Logger
}

const SHARE = 0.75
const CHECK_MS = 100
/** While unknown clients use less than this share of the limit, checks are rare: no flood can use up the rest between two checks. */
const CALM_SHARE = 1 / 64
const CALM_CHECK_MS = 1_000
/** The pause between checks while unknown clients use more than half of the limit, or exceed it. */
const BUSY_CHECK_MS = 20
/** Maximum connections closed at once. Closing one takes some microseconds, so this many delay no request. */
const MAX_ENDED = 2_000
/** If a check found no excess, the next one waits for this many new connections, or for LOOK_AGAIN_MS. */
const GROWTH = 64
const LOOK_AGAIN_MS = 5_000
const LOG_INTERVAL_MS = 10_000
/** An answer in progress uses two connections: the client's and the provider's. */
const PER_ANSWER = 2

type Seen = OpenSocket & { sinceMs: number; wasIdle: boolean }

/**
 * Limits the connections of unknown clients: per network, and in total, so that descriptors are left for paying clients, stores and
 * providers. Beyond a limit, the oldest connections of the largest network are closed. A connection's age restarts with each answer, and no
 * connection is closed during an answer to a known caller. Starts the watch; the returned function stops it.
 */
export function capConnections(options: ConnectionCapsOptions): () => void {
  const { sockets, localPort, perAddress, logger } = options
  const total = Math.floor(sockets.limit * SHARE)
  let seen = new Map<string, { sinceMs: number; isKnown: boolean }>()
  let lookFrom = 0
  let lookAgainMs = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let ended = 0

  /** Closes excess connections. Returns whether there were any, closed or not. */
  function look(count: number, nowMs: number): boolean {
    const known = options.knownPorts()
    const before = seen
    seen = new Map()
    const strangers: Seen[] = []
    for (const socket of sockets.list(localPort)) {
      const name = `${socket.descriptor} ${socket.port} ${socket.address}`
      const isKnown = known.has(socket.port)
      const last = before.get(name)
      const wasIdle = last?.isKnown === false
      const sinceMs = isKnown || !wasIdle ? nowMs : last.sinceMs
      seen.set(name, { sinceMs, isKnown })
      if (!isKnown) strangers.push({ ...socket, sinceMs, wasIdle })
    }
    const tooMany = excess(strangers, perAddress, Math.max(0, total - (count - strangers.length)))
    // An answer that just ended may still be in transit, also on a connection opened since the last check. So only connections idle at two
    // checks are closed.
    const victims = tooMany.filter(({ wasIdle }) => wasIdle).slice(0, MAX_ENDED)
    for (const socket of victims) sockets.end(socket)
    ended += victims.length
    if (victims.length > 0) options.onEnded(victims.length)
    lookFrom = tooMany.length > 0 ? 0 : count + GROWTH
    lookAgainMs = nowMs + LOOK_AGAIN_MS
    return tooMany.length > 0
  }

  function check(): void {
    const count = sockets.count()
    const nowMs = performance.now()
    const strangers = count - PER_ANSWER * options.knownCount()
    const isTime = strangers > Math.min(perAddress, total) && (count >= lookFrom || nowMs >= lookAgainMs)
    const wereTooMany = isTime && look(count, nowMs)
    timer = setTimeout(check, pauseAfter(strangers, wereTooMany))
    timer.unref()
    if (ended === 0 || nowMs - loggedAtMs < LOG_INTERVAL_MS) return
    logger.warn('connections_ended', { ended, open: count, limit: sockets.limit })
    loggedAtMs = nowMs
    ended = 0
  }

  function pauseAfter(strangers: number, wereTooMany: boolean): number {
    if (wereTooMany || strangers > total / 2) return BUSY_CHECK_MS
    return strangers < total * CALM_SHARE ? CALM_CHECK_MS : CHECK_MS
  }

  let timer: Timer
  check()
  return () => clearTimeout(timer)
}

function excess(strangers: readonly Seen[], perNetwork: number, total: number): Seen[] {
  const byNetwork = Map.groupBy(strangers, ({ address }) => networkOf(address))
  const groups = [...byNetwork.values()]
  const level = Math.min(
    perNetwork,
    levelFor(
      groups.map((group) => group.length),
      total,
    ),
  )
  return groups.flatMap((group) => {
    if (group.length <= level) return []
    const oldestFirst = group.toSorted((one, other) => one.sinceMs - other.sinceMs || one.descriptor - other.descriptor)
    return oldestFirst.slice(0, group.length - level)
  })
}

function levelFor(sizes: number[], total: number): number {
  const ascending = sizes.toSorted((one, other) => one - other)
  let left = total
  for (const [index, size] of ascending.entries()) {
    const fair = Math.floor(left / (ascending.length - index))
    if (size > fair) return fair
    left -= size
  }
  return Number.POSITIVE_INFINITY
}
