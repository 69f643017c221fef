/**
 * Limits a provider's concurrent calls, with a short, bounded queue. A call that would wait too long is refused at once, so that overload
 * costs little. An account with many calls leaves some slots and places in the queue to others.
 */
import type { Provider } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import { SHARED } from '@/limits/shared-resources'
import { isSameUpstream } from './renewal'

/** Releases a slot. `heldMs`: how long a call used it; undefined if there was no call. Safe to call twice. */
export type Release = (heldMs?: number) => void

export interface ConcurrencyLimiter {
  /** A slot that is free for the account right now, or undefined. */
  tryTake(provider: Provider, accountId: string): Release | undefined
  /**
   * Waits for a slot. Throws a GatewayError `overloaded` with `retryAfterSeconds` at once if the queue is full or too slow, otherwise after
   * {@link MAX_WAIT_MS} without a slot. Resolves to undefined if `signal` fires first.
   */
  take(provider: Provider, accountId: string, signal: AbortSignal): Promise<Release | undefined>
  /** Whether every account's call would be refused at once. */
  isOverloaded(provider: Provider): boolean
  /** Applies the limits of new `providers`. Waiting requests get the slots that this adds. */
  renew(providers: ReadonlyMap<string, Provider>): void
  list(): { provider: string; inFlight: number; queued: number; limit: number }[]
}

const MAX_WAIT_MS = 2_000
/** Maximum waiting requests for each slot. */
const QUEUED_PER_SLOT = 1
/** The weight of the latest call in the average time per slot. */
const SMOOTHING = 0.1

const { perAccount, perProcess } = SHARED.providerSlots
/** An account may take one more slot while its slots are fewer than the free slots times this factor. */
const OWN_PER_FREE = perAccount / (perProcess - perAccount)

type Waiter = { accountId: string; grant(release: Release): void }
type Lane = {
  provider: Provider
  inFlight: number
  inFlightOf: Map<string, number>
  queue: Set<Waiter>
  /** 0 while unknown. */
  averageHeldMs: number
}

export function createConcurrencyLimiter(): ConcurrencyLimiter {
  const lanes = new Map<string, Lane>()

  function laneOf(provider: Provider): Lane {
    let lane = lanes.get(provider.name)
    if (!lane) {
      lane = { provider, inFlight: 0, inFlightOf: new Map(), queue: new Set(), averageHeldMs: 0 }
      lanes.set(provider.name, lane)
    }
    return lane
  }

  /** A free slot goes to the queue first, so that no new call overtakes a waiting one. */
  function tryTake(provider: Provider, accountId: string): Release | undefined {
    const lane = laneOf(provider)
    return mayTake(lane, accountId) ? occupy(lane, accountId) : undefined
  }

  return {
    tryTake,
    async take(provider, accountId, signal) {
      const free = tryTake(provider, accountId)
      if (free) return free
      const lane = laneOf(provider)
      if (isHopeless(lane) || !mayQueue(lane, accountId)) throw overloaded(lane)
      return await enqueue(lane, accountId, signal)
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
        letIn(lane)
      }
    },
    list: () =>
      [...lanes.values()].map(({ provider, inFlight, queue }) => {
        return { provider: provider.name, inFlight, queued: queue.size, limit: provider.maxConcurrency }
      }),
  }
}

function mayTake({ provider, inFlight, inFlightOf }: Lane, accountId: string): boolean {
  return (inFlightOf.get(accountId) ?? 0) < OWN_PER_FREE * (provider.maxConcurrency - inFlight)
}

function mayQueue({ provider, queue }: Lane, accountId: string): boolean {
  let own = 0
  for (const waiter of queue) if (waiter.accountId === accountId) own++
  return own < OWN_PER_FREE * (provider.maxConcurrency * QUEUED_PER_SLOT - queue.size)
}

function count({ provider, inFlightOf }: Lane, accountId: string, change: number): void {
  const own = (inFlightOf.get(accountId) ?? 0) + change
  if (own <= 0) inFlightOf.delete(accountId)
  else if (Number.isFinite(provider.maxConcurrency)) inFlightOf.set(accountId, own)
}

function occupy(lane: Lane, accountId: string): Release {
  lane.inFlight++
  count(lane, accountId, 1)
  let isHeld = true
  return (heldMs = 0) => {
    if (!isHeld) return
    isHeld = false
    if (lane.averageHeldMs === 0) lane.averageHeldMs = heldMs
    else if (heldMs > 0) lane.averageHeldMs += SMOOTHING * (heldMs - lane.averageHeldMs)
    lane.inFlight--
    count(lane, accountId, -1)
    letIn(lane)
  }
}

/** Gives free slots to waiting calls: to the account with the fewest slots in use, and there to the longest-waiting call. */
function letIn(lane: Lane): void {
  while (lane.queue.size > 0) {
    let next: Waiter | undefined
    const ownOf = ({ accountId }: Waiter) => lane.inFlightOf.get(accountId) ?? 0
    for (const waiter of lane.queue) if (!next || ownOf(waiter) < ownOf(next)) next = waiter
    if (!next || !mayTake(lane, next.accountId)) return
    lane.queue.delete(next)
    next.grant(occupy(lane, next.accountId))
  }
}

async function enqueue(lane: Lane, accountId: string, signal: AbortSignal): Promise<Release | undefined> {
  if (signal.aborted) return undefined
  const turn = Promise.withResolvers<Release | undefined>()
  const waiter: Waiter = { accountId, grant: turn.resolve }
  lane.queue.add(waiter)
  // Leaves the queue and gives up at once, so that a cancelled request gets no slot.
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

/** Whether the queue is full, or a new call would wait too long. */
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
