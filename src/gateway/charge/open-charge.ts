/** The charge of one answer under way: the target, the figures so far, and the hold that pays. */
import { listForAnswer, listOfTier } from '@/catalog/price'
import type { PriceList, Pricing } from '@/catalog/types'
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import type { Hold, Progress } from '@/gateway/hold/hold'
import type { PlannedFacts } from '@/gateway/hold/request-facts'
import type { AnswerEnd, Charge, Ending } from '@/ledger/charge'
import type { Payer } from '@/ledger/outcomes'
import { CLIENT_CLOSED_STATUS, type RequestFacts } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import { type Nano, nano } from '@/lib/money'
import type { RequestLine } from '@/metrics/request-line'
import { chargeTools, claimedUsage, decideCharge, hasFinalUsage, needsCount, type ToolTerms } from './charge'
import { countOutput } from './count-output'
import type { Meter, MeterReading } from './meter'
import { type ProviderBill, providerBill } from './provider-bill'

export type OpenCharge = {
  payer: Payer
  hold: Hold
  pricing: Pricing
  /** The service tier that the provider was asked for; undefined if it chooses. */
  serviceTier?: string | undefined
  /** Whether the operator bears the cost of a tier without a price. */
  bearsTiers: boolean
  /** Our cost; undefined if the catalogue has none. */
  cost?: Pricing | undefined
  /** Whether the provider was asked to keep something for an hour, and may not say in its usage that it did. */
  writesForHour: boolean
  /** The tools that the request offers and the target has prices for; undefined if there are none, as in nearly every request. */
  tools: readonly ToolTerms[] | undefined
  meter: Meter
  /** Whether it is known that the provider never got the request. */
  isUnreached?: true
  /** Calls for the same request that another outran, and what they may cost us as far as that is known. */
  outrun?: NonNullable<RequestFacts['outrun']>
  /**
   * The output in our own count, where it was needed, and the guess at that time: there may be more by now. Undefined
   * tokens could not be counted.
   */
  counted?: { tokens: number | undefined; ofGuess: number }
  /** The input in our own count, where the provider does not say it and it was counted; elsewhere a guess is used. */
  countedInput?: number | undefined
  /** Told how much was written, where the answer is complete. */
  permit: { wrote(tokens: number): void }
  /** A further listener of the answer's end and cost, called before its last bytes are sent where it ended well. */
  onSettled?: ((ending: Ending, charge: Charge) => void) | undefined
  /** The request's line in the log. */
  line: RequestLine
  facts: PlannedFacts & { attempts: number; routeReason: string }
  /** When the request arrived, by the monotonic clock. */
  arrivedMonotonicMs: number
  /** Called at the answer's end; undefined but for the few answers of tiers that are observed. */
  onObservedEnd?: ((end: AnswerEnd) => void) | undefined
}

/** The charge if this process died right now. */
export function progressOf(open: OpenCharge, clock: Clock): Progress {
  const reading = readingOf(open)
  const charge = chargeAt(open, reading, 'disconnected')
  assert(charge.kind === 'charge', 'an abandoned answer is never free')
  const facts = factsOf(open, { ...charge, rule: 'expired' }, billOf(open, reading, charge), 'disconnected', clock)
  return { cost: charge.cost, facts }
}

/** The meter's reading. Cache writes that are reported as one sum count as the dearer ones, if the request asked for those. */
export function readingOf(open: OpenCharge): MeterReading {
  const { meter, writesForHour, counted, countedInput, isUnreached } = open
  const reading = meter.reading()
  if (isTierUnpriced(open, reading)) {
    reading.unknownUsage = [...(reading.unknownUsage ?? []), `service_tier ${reading.serviceTier}`]
  }
  if (isUnreached) reading.isUnreached = true
  if (countedInput !== undefined) reading.countedInput = countedInput
  if (counted?.tokens !== undefined && counted.ofGuess === reading.countedOutput) {
    reading.countedOutput = counted.tokens
    reading.isCounted = true
  }
  if (reading.usage?.areWritesSplit) {
    const { areWritesSplit: _, ...usage } = reading.usage
    return { ...reading, usage }
  }
  const { usage } = reading
  if (!writesForHour || !usage || usage.cacheWrite1h > 0 || usage.cacheWrite5m === 0) return reading
  return { ...reading, usage: { ...usage, cacheWrite5m: 0, cacheWrite1h: usage.cacheWrite5m }, isReclassified: true }
}

/** Whether the answer was served in a tier without a price, whose cost the operator does not bear. */
function isTierUnpriced({ pricing, bearsTiers }: OpenCharge, { serviceTier }: MeterReading): boolean {
  return serviceTier !== undefined && !bearsTiers && !listOfTier(pricing, serviceTier)
}

/** The charge if the answer ends like this. */
export function chargeAt(open: OpenCharge, reading: MeterReading, ending: Ending): Charge {
  const { tools, hold } = open
  const charge = decideCharge(ending, reading, pricesOf(open, reading), hold.size)
  return tools ? chargeTools(charge, tools, reading.toolUses, hold.size.amount) : charge
}

/** The price list that the answer is charged by: that of the tier it names, or else of the one asked for. */
export function pricesOf({ pricing, serviceTier: asked, hold }: OpenCharge, reading: MeterReading): PriceList {
  if (!pricing.serviceTiers) return pricing
  const tiers = { asked, answered: reading.serviceTier }
  return listForAnswer(pricing, tiers, claimedUsage(reading, hold.size.estimatedInput))
}

/** Our cost of an answer with this charge, outrun calls included. */
export function billOf(open: OpenCharge, reading: MeterReading, charge: Charge): ProviderBill {
  const { hold, outrun, tools } = open
  const bill = providerBill(reading, charge, costList(open, reading), hold.size, tools)
  if (!outrun) return bill
  const { providerCost } = bill
  return { ...bill, outrun, ...(providerCost !== undefined && { providerCost: nano(providerCost + outrun.cost) }) }
}

/** Our cost of a call that was started and abandoned: the usage so far, at least the input in our own count. */
export function costThrownAway(open: OpenCharge): Nano | undefined {
  const reading = readingOf(open)
  const { hold, tools } = open
  const charge = chargeAt(open, reading, 'disconnected')
  return providerBill(reading, charge, costList(open, reading), hold.size, tools).providerCost
}

/** Our cost in the tier that the answer names, or else in the one asked for; undefined if the catalogue has none. */
function costList({ cost, serviceTier }: OpenCharge, reading: MeterReading): PriceList | undefined {
  return cost && listOfTier(cost, reading.serviceTier ?? serviceTier)
}

/** The charge if the answer ends well right now. */
export function chargeNow(open: OpenCharge): Charge {
  return chargeAt(open, readingOf(open), 'complete')
}

/** The usage of the answer's record if it ends well right now, which is what its client gets. */
export function usageNow(open: OpenCharge): Usage {
  const reading = readingOf(open)
  const charge = chargeAt(open, reading, 'complete')
  return charge.kind === 'charge' ? charge.usage : (reading.usage ?? ZERO_USAGE)
}

/** Whether the provider's last usage is final: no content came after it. */
export function isUsageStated({ meter }: OpenCharge): boolean {
  return hasFinalUsage(meter.reading())
}

/** Counts the output so far. Returns undefined if that could not be done in time. */
export async function countNow(open: OpenCharge): Promise<number | undefined> {
  const { meter, counted } = open
  const { countedOutput: ofGuess } = meter.reading()
  if (counted?.ofGuess === ofGuess) return counted.tokens
  const tokens = await countOutput(meter.said())
  open.counted = { tokens, ofGuess }
  return tokens
}

/** Whether a charge needs a count that was not made yet; a guess is used until then. */
export function lacksCount({ meter, hold, counted }: OpenCharge): boolean {
  const reading = meter.reading()
  return counted?.ofGuess !== reading.countedOutput && needsCount(reading, hold.size.bounds)
}

/** The facts of the usage record for this ending. */
export function factsOf(
  { facts, meter, arrivedMonotonicMs }: OpenCharge,
  { usage, rule, flags, tools }: Extract<Charge, { kind: 'charge' }>,
  bill: ProviderBill,
  ending: Ending,
  clock: Clock,
): RequestFacts {
  return {
    ...facts,
    answerId: facts.answerId ?? passedId(facts, meter),
    finish: meter.finishKind(),
    usage,
    rule,
    flags,
    tools,
    status: statusAt(ending),
    firstTokenMs: meter.firstTokenMs(),
    durationMs: Math.round(clock.monotonic() - arrivedMonotonicMs),
    ...bill,
  }
}

const MAX_ID_CHARS = 128

/** The provider's own id of an answer that it gives in the client's format, and which its client gets. */
function passedId({ clientFormat, providerFormat }: PlannedFacts, meter: Meter): string | undefined {
  const { id } = meter.answeredAs()
  return clientFormat === providerFormat && id !== '' && id.length <= MAX_ID_CHARS ? id : undefined
}

/** The status that the client got, if it got one: an answer that breaks off had begun with a good one. */
export function statusAt(ending: Ending): number {
  return ending === 'disconnected' || ending === 'unanswered' ? CLIENT_CLOSED_STATUS : 200
}
