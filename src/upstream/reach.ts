import { connect } from 'node:net'
import { withDeadline } from '@/lib/deadline'
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'

interface ReachTest {
  /** Ends the call after `connectMs` if no connection to `baseUrl`'s address is accepted; a refused connection fails by itself. */
  watch(baseUrl: string, connectMs: number, call: { end(phase: 'connect'): void }): ReachWatch
}

type ReachWatch = {
  /** The call was answered, so the address counts as reachable for a while. */
  answered(): void
  /** Ends the watch, because the call has ended. Returns `isUnheard` if the address accepted no connection recently. */
  stop(): { isUnheard: true } | undefined
}

type Address = { host: string; port: number; heardAtMs: number; probe: Promise<boolean> | undefined }

/** For this time after an answer, calls to the address start without a parallel connection. */
const FRESH_MS = 5_000
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/**
 * Tests whether a provider's address is reachable while a call is silent. The HTTP client doesn't report its connection, and a call may
 * wait minutes for its first byte. So a call to an address without recent contact gets a parallel TCP connection. If that is not accepted
 * within the connect timeout, packets are probably lost. One test serves all calls of a process. `monotonic` returns milliseconds.
 */
export function createReachTest(monotonic: () => number): ReachTest {
  const addresses = new Map<string, Address>()

  function addressOf(baseUrl: string): Address {
    const known = addresses.get(baseUrl)
    if (known) return known
    const { hostname, port, protocol } = new URL(baseUrl)
    const address: Address = {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port),
      heardAtMs: Number.NEGATIVE_INFINITY,
      probe: undefined,
    }
    addresses.set(baseUrl, address)
    return address
  }

  /** Calls that start together share one connection. */
  function probe(address: Address, connectMs: number): Promise<boolean> {
    address.probe ??= isSilent(address, connectMs).then((silent) => {
      address.probe = undefined
      if (!silent) address.heardAtMs = monotonic()
      return silent
    })
    return address.probe
  }

  const parts = { monotonic, probe }
  return { watch: (baseUrl, connectMs, call) => new Watch(addressOf(baseUrl), parts, connectMs, call) }
}

type WatchParts = {
  monotonic: () => number
  probe(address: Address, connectMs: number): Promise<boolean>
}

class Watch implements ReachWatch, Timed {
  dueAtMs = Number.POSITIVE_INFINITY
  private readonly freshSinceMs: number
  private isOver = false

  constructor(
    private readonly address: Address,
    private readonly parts: WatchParts,
    private readonly connectMs: number,
    private readonly call: { end(phase: 'connect'): void },
  ) {
    this.freshSinceMs = parts.monotonic() - FRESH_MS
    if (address.heardAtMs > this.freshSinceMs) {
      this.dueAtMs = dueIn(connectMs)
      watch(this)
    } else void this.test()
  }

  onDue(): void {
    unwatch(this)
    void this.test()
  }

  answered(): void {
    this.address.heardAtMs = this.parts.monotonic()
    this.stop()
  }

  stop(): { isUnheard: true } | undefined {
    this.isOver = true
    unwatch(this)
    return this.address.heardAtMs > this.freshSinceMs ? undefined : { isUnheard: true }
  }

  private async test(): Promise<void> {
    if ((await this.parts.probe(this.address, this.connectMs)) && !this.isOver) this.call.end('connect')
  }
}

async function isSilent({ host, port }: Address, connectMs: number): Promise<boolean> {
  const answered = Promise.withResolvers<false>()
  const socket = connect({ host, port })
  socket.once('connect', () => answered.resolve(false))
  socket.once('error', () => answered.resolve(false))
  const silent = await withDeadline(answered.promise, connectMs, () => true)
  socket.destroy()
  return silent
}
