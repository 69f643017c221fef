/** A TCP proxy that does what networks do: delays, silence, resets, replies that never arrive, another host behind the address. */
import { connect, createServer, type Socket } from 'node:net'
import { listen } from './upstream'

/** Forwards one request that contains `pattern`, swallows whatever is answered on that connection, and resets it. */
type LostReply = { pattern: string; times: number; afterMs: number }

export interface TcpProxy {
  readonly port: number
  /** Milliseconds added to each direction; 0 for none. */
  delay(milliseconds: number): void
  /** Nothing passes in either direction while it holds; connections are accepted and stay. What was sent meanwhile follows. */
  hang(isHanging: boolean): void
  /** New connections are reset at once. */
  refuse(isRefusing: boolean): void
  /** Resets every connection. */
  resetAll(): void
  /** The next `bytes` towards the client pass on each connection, then it is reset. 0 ends that. */
  limit(bytes: number): void
  loseReplies(lost: LostReply): void
  /** How many replies were lost so far. */
  lostReplies(): number
  /** From now on the address leads elsewhere; connections to the old place are reset. */
  retarget(port: number): void
  connections(): number
  close(): void
}

type Link = { client: Socket; server: Socket; isMuted: boolean; passed: number }

type State = {
  targetPort: number
  delayMs: number
  isHanging: boolean
  isRefusing: boolean
  limitBytes: number
  lost: LostReply | undefined
  lostCount: number
}

/** Starts a proxy on a free loopback port in front of `targetPort`. */
export async function startProxy(targetPort: number): Promise<TcpProxy> {
  const state: State = {
    ...{ targetPort, delayMs: 0, isHanging: false, isRefusing: false, limitBytes: 0, lost: undefined, lostCount: 0 },
  }
  const links = new Set<Link>()
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined)
    if (state.isRefusing) {
      client.resetAndDestroy()
      return
    }
    const link = { client, server: connectTo(state.targetPort), isMuted: false, passed: 0 }
    links.add(link)
    wire(link, state)
    client.once('close', () => links.delete(link))
    if (state.isHanging) setFlow(link, false)
  })
  const port = await listen(server)
  const reset = (link: Link) => {
    link.client.resetAndDestroy()
    link.server.destroy()
  }
  return {
    port,
    delay: (milliseconds) => {
      state.delayMs = milliseconds
    },
    hang(isHanging) {
      state.isHanging = isHanging
      for (const link of links) setFlow(link, !isHanging)
    },
    refuse: (isRefusing) => {
      state.isRefusing = isRefusing
    },
    resetAll: () => [...links].forEach(reset),
    limit(bytes) {
      state.limitBytes = bytes
      for (const link of links) link.passed = 0
    },
    loseReplies: (lost) => {
      state.lost = { ...lost }
    },
    lostReplies: () => state.lostCount,
    retarget(targetPort) {
      state.targetPort = targetPort
      for (const link of [...links]) reset(link)
    },
    connections: () => links.size,
    close() {
      for (const link of [...links]) reset(link)
      server.close()
    },
  }
}

function connectTo(port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
  socket.on('error', () => undefined)
  return socket
}

function wire(link: Link, state: State): void {
  const { client, server } = link
  client.on('data', (bytes: Buffer) => {
    if (isToBeLost(bytes, state)) loseReply(link, state)
    pass(client, server, bytes, state.delayMs)
  })
  server.on('data', (bytes: Buffer) => {
    if (link.isMuted) return
    link.passed += bytes.length
    if (state.limitBytes > 0 && link.passed > state.limitBytes) {
      client.resetAndDestroy()
      server.destroy()
    } else pass(server, client, bytes, state.delayMs)
  })
  client.on('end', () => server.end())
  server.on('end', () => client.end())
  client.on('close', () => server.destroy())
  server.on('close', () => client.destroy())
}

function isToBeLost(bytes: Uint8Array, state: State): boolean {
  return state.lost !== undefined && state.lost.times > 0 && Buffer.from(bytes).includes(state.lost.pattern)
}

function loseReply(link: Link, state: State): void {
  const { lost } = state
  if (!lost) return
  lost.times--
  state.lostCount++
  link.isMuted = true
  setTimeout(() => {
    link.client.resetAndDestroy()
    link.server.destroy()
  }, lost.afterMs)
}

/** Sends on, now or later, and holds the sender back while the receiver is full. */
function pass(from: Socket, to: Socket, bytes: Uint8Array, delayMs: number): void {
  if (delayMs > 0) {
    setTimeout(() => to.write(bytes), delayMs)
    return
  }
  if (to.write(bytes)) return
  from.pause()
  to.once('drain', () => from.resume())
}

function setFlow({ client, server }: Link, isFlowing: boolean): void {
  for (const socket of [client, server]) isFlowing ? socket.resume() : socket.pause()
}
