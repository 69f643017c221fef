/**
 * Limits how many calls a provider has in flight, with a short, bounded queue. What would wait too long is refused at once,
 * so that overload costs the refused nothing and the admitted little.
 */
import type { Provider } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { Clock } from '@/lib/clock'
import { isSameUpstream } from './renewal'

/** Gives the slot back. Safe to call twice. */
export type Release = () => void

export interface ConcurrencyLimiter {
  /** A free slot right now, or undefined. */
  tryTake(provider: Provider): Release | undefined
  /**
   * Waits for a slot. Throws a GatewayError `overloaded` with `retryAfterSeconds` at once where the queue is full or moves too
   * slowly, and after {@link MAX_WAIT_MS} where it was expected to be faster. Resolves to undefined where `signal` fires first.
   */
  take(provider: Provider, signal: AbortSignal): Promise<Release | undefined>
  /** Whether a call would be refused at once. */
  isOverloaded(provider: Provider): boolean
  /** From now on limits are those of `providers`; who waits is let in where there is more room. */
  renew(providers: ReadonlyMap<string, Provider>): void
  list(): { provider: string; inFlight: number; queued: number; limit: number }[]
}

/** The longest a request waits for a slot. */
const MAX_WAIT_MS = 2_000
/** Requests that may wait for each slot. */
const QUEUED_PER_SLOT = 1
/** How much the latest call counts in the average time that a slot is held. */
const SMOOTHING = 0.1

type Waiter = { grant(release: Release): void }
type Lane = { provider: Provider; inFlight: number; queue: Set<Waiter> /** 0 while unknown. */; averageHeldMs: number }

/** Creates the limiter of one process. */
export function createConcurrencyLimiter(clock: Clock): ConcurrencyLimiter {
  const lanes = new Map<string, Lane>()

  function laneOf(provider: Provider): Lane {
    let lane = lanes.get(provider.name)
    if (!lane) {
      lane = { provider, inFlight: 0, queue: new Set(), averageHeldMs: 0 }
      lanes.set(provider.name, lane)
    }
    return lane
  }

  function tryTake(provider: Provider): Release | undefined {
    const lane = laneOf(provider)
    return lane.inFlight < lane.provider.maxConcurrency && lane.queue.size === 0 ? occupy(lane, clock) : undefined
  }

  return {
    tryTake,
    async take(provider, signal) {
      const free = tryTake(provider)
      if (free) return free
      const lane = laneOf(provider)
      if (isHopeless(lane)) throw overloaded(lane)
      return await enqueue(lane, signal)
    },
    isOverloaded(provider) {
      const lane = lanes.get(provider.name)
      return lane !== undefined && lane.inFlight >= lane.provider.maxConcurrency && isHopeless(lane)
    },
    renew(providers) {
      for (const [name, lane] of lanes) {
        const provider = providers.get(name)
        if (!provider) {
          if (lane.inFlight + lane.queue.size === 0) lanes.delete(name)
          continue
        }
        if (!isSameUpstream(provider, lane.provider)) lane.averageHeldMs = 0
        lane.provider = provider
        while (letIn(lane, clock)) {}
      }
    },
    list: () =>
      [...lanes.values()].map(({ provider, inFlight, queue }) => {
        return { provider: provider.name, inFlight, queued: queue.size, limit: provider.maxConcurrency }
      }),
  }
}

function occupy(lane: Lane, clock: Clock): Release {
  lane.inFlight++
  const sinceMs = clock.monotonic()
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    const heldMs = clock.monotonic() - sinceMs
    lane.averageHeldMs =
      lane.averageHeldMs === 0 ? heldMs : lane.averageHeldMs + SMOOTHING * (heldMs - lane.averageHeldMs)
    lane.inFlight--
    letIn(lane, clock)
  }
}

/** Gives a free slot to whoever waits for longest; false where there is no slot, or nobody. */
function letIn(lane: Lane, clock: Clock): boolean {
  const [next] = lane.queue
  if (!next || lane.inFlight >= lane.provider.maxConcurrency) return false
  lane.queue.delete(next)
  next.grant(occupy(lane, clock))
  return true
}

async function enqueue(lane: Lane, signal: AbortSignal): Promise<Release | undefined> {
  if (signal.aborted) return undefined
  const turn = Promise.withResolvers<Release | undefined>()
  const waiter: Waiter = { grant: turn.resolve }
  lane.queue.add(waiter)
  // Leaves the queue in the same moment as it gives up, so that no slot is handed to somebody who is gone.
  function leave(): boolean {
    return lane.queue.delete(waiter)
  }
  const onAbort = () => {
    if (leave()) turn.resolve(undefined)
  }
  const timer = setTimeout(() => {
    if (leave()) turn.reject(overloaded(lane))
  }, MAX_WAIT_MS)
  signal.addEventListener('abort', onAbort)
  try {
    return await turn.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** The queue is full, or the last in it would wait for longer than anybody may. */
function isHopeless(lane: Lane): boolean {
  const { queue, provider } = lane
  return queue.size >= provider.maxConcurrency * QUEUED_PER_SLOT || expectedWaitMs(lane) > MAX_WAIT_MS
}

function expectedWaitMs({ queue, provider, averageHeldMs }: Lane): number {
  return ((queue.size + 1) * averageHeldMs) / provider.maxConcurrency
}

function overloaded(lane: Lane): GatewayError {
  return new GatewayError('overloaded', 'The model provider is busy. Try again.', {
    code: 'provider_busy',
    retryAfterSeconds: Math.max(1, Math.ceil(expectedWaitMs(lane) / 1000)),
    cause: `${lane.provider.name}: ${lane.inFlight} calls in flight, ${lane.queue.size} waiting`,
  })
}
