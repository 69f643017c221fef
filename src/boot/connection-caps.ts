/**
 * How many connections strangers may hold: so many each, and all together no more than leaves descriptors for those who pay, for the
 * stores and for the providers. Beyond that the oldest of the address that holds most are ended. A request that is answered makes its
 * connection young again, and an answer under way to an accepted caller is never ended.
 */
import type { Logger } from '@/lib/logger'
import { networkOf } from '@/lib/quota/network'
import type { OpenSocket, OpenSockets } from './open-sockets'

type ConnectionCapsOptions = {
  /** Connections of one network without an answer under way to a known caller. Infinite behind proxies, which have many clients. */
  perAddress: number
  sockets: Pick<OpenSockets, 'limit' | 'count' | 'list' | 'end'>
  /** The listener's. */
  localPort: number
  /** The peers' ports of the answers under way to those who are known. */
  knownPorts(): Set<number>
  /** How many those are, at the price of nothing. */
  knownCount(): number
  /** So many were ended just now. */
  onEnded(count: number): void
  logger: Logger
}

/** The share of the process's descriptors that may be in use before strangers' connections are ended. */
const SHARE = 0.75
const CHECK_MS = 100
/** Where hardly any are open, and many may be: so many as are needed to fill the process don't come in this time. */
const CALM_SHARE = 1 / 64
const CALM_CHECK_MS = 1_000
/** Where many are open, as many more may come in little time. */
const BUSY_CHECK_MS = 20
/** Ending one takes some microseconds: so many at a time delay no request. */
const MAX_ENDED = 2_000
/** A look that finds nothing to end is not repeated before there are so many more, or so much time has passed. */
const GROWTH = 64
const LOOK_AGAIN_MS = 5_000
const LOG_INTERVAL_MS = 10_000
/** An answer under way has a client's connection and a provider's. */
const PER_ANSWER = 2

/** A connection, when it was first seen or last seen being answered, and whether it was seen without an answer before. */
type Seen = OpenSocket & { sinceMs: number; wasIdle: boolean }

/** Starts watching; the result stops. */
export function capConnections(options: ConnectionCapsOptions): () => void {
  const { sockets, localPort, perAddress, logger } = options
  const total = Math.floor(sockets.limit * SHARE)
  let seen = new Map<string, { sinceMs: number; isKnown: boolean }>()
  let lookFrom = 0
  let lookAgainMs = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let ended = 0

  /** Ends those that are too many. Returns whether there were any, ended or not. */
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
    // The last words of an answer may still be on their way when it is none under way any more, and who is seen for the first time
    // may have had one just now: the next look, in a moment, ends them.
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

/** Which of `strangers` are too many: the oldest of each network above `perNetwork`, and of the largest until `total` are left. */
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

/** The most that each may keep, so that all together keep no more than `total`. */
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
