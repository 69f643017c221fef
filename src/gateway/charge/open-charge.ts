/** The charge of one answer while it is being given: who answers, what has been seen of it, and the hold that pays. */
import type { Pricing } from '@/catalog/types'
import type { Usage } from '@/chat/usage'
import type { Hold, Progress } from '@/gateway/hold/hold'
import { CLIENT_CLOSED_STATUS, type PlannedFacts } from '@/gateway/hold/request-facts'
import type { Charge, Ending } from '@/ledger/charge'
import type { Payer } from '@/ledger/outcomes'
import type { RequestFacts } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import { decideCharge } from './charge'
import type { Meter } from './meter'

export type OpenCharge = {
  payer: Payer
  hold: Hold
  pricing: Pricing
  /** Whether the provider was asked to keep something for an hour, and may not say in its usage that it did. */
  writesForHour: boolean
  meter: Meter
  facts: PlannedFacts & { attempts: number; routeReason: string }
  /** When the request arrived, by the monotonic clock. */
  arrivedMonotonicMs: number
}

/** What the ledger should charge if this process died right now. */
export function progressOf(open: OpenCharge, clock: Clock): Progress {
  const charge = chargeAt(open, 'disconnected')
  assert(charge.kind === 'charge', 'an abandoned answer is never free')
  return { cost: charge.cost, facts: factsOf(open, { ...charge, rule: 'expired' }, 'disconnected', clock) }
}

/** What the answer costs if it ends like this. */
export function chargeAt({ meter, pricing, writesForHour, hold: { size } }: OpenCharge, ending: Ending): Charge {
  const reading = meter.reading()
  if (writesForHour && reading.usage) reading.usage = atHourlyPrice(reading.usage)
  return decideCharge(ending, reading, pricing, size.bounds, size.estimatedInput)
}

/** Writes to a cache that are told in one sum are the dearer ones, where those were asked for. */
function atHourlyPrice(usage: Usage): Usage {
  if (usage.cacheWrite1h > 0) return usage
  return { ...usage, cacheWrite5m: 0, cacheWrite1h: usage.cacheWrite5m }
}

/** What the books say of an answer that ended like this. */
export function factsOf(
  { facts, meter, arrivedMonotonicMs }: OpenCharge,
  { usage, rule, flags }: Extract<Charge, { kind: 'charge' }>,
  ending: Ending,
  clock: Clock,
): RequestFacts {
  return {
    ...facts,
    usage,
    rule,
    flags,
    status: statusAt(ending),
    firstTokenMs: meter.firstTokenMs(),
    durationMs: Math.round(clock.monotonic() - arrivedMonotonicMs),
  }
}

/** The status that the client got, if it got one: an answer that breaks off had begun with a good one. */
export function statusAt(ending: Ending): number {
  return ending === 'disconnected' ? CLIENT_CLOSED_STATUS : 200
}
