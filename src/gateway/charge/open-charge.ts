/** The charge of an answer in progress: its target, its usage so far, and the hold that pays for it. */
import { listForAnswer, listOfTier, tierOfList } from '@/catalog/price'
import type { PriceList, Pricing } from '@/catalog/types'
import type { UnitCount } from '@/chat/units'
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
  /** The service tier in the request to the provider; undefined if the provider chooses. */
  serviceTier?: string | undefined
  /** Whether the operator bears the cost of a service tier without a price. */
  bearsTiers: boolean
  /** The prices that we pay; undefined if the catalogue has none. */
  cost?: Pricing | undefined
  /** Whether the request caches something for an hour, which the provider's usage may not show. */
  writesForHour: boolean
  /** The request's tools with a price at the target; undefined if there are none, as in nearly every request. */
  tools: readonly ToolTerms[] | undefined
  meter: Meter
  /** Whether the provider certainly never got the request. */
  isUnreached?: true
  /** Calls of this request that lost to a faster one, and their known cost to us. */
  outrun?: NonNullable<RequestFacts['outrun']>
  /** Our count of the output (undefined if it failed), and the estimate at the time of the count. Undefined if not counted. */
  counted?: { tokens: number | undefined; ofGuess: number }
  /** Our count of the input, if the provider reports none and it was counted; else an estimate is used. */
  countedInput?: number | undefined
  /** Units charged if the provider states no usage; undefined for conversations and embeddings. */
  countedUnits?: readonly UnitCount[]
  /** Called with the number of output tokens of a complete answer. */
  permit: { wrote(tokens: number): void }
  /** Called with the ending and the charge, before the last bytes of a successful answer are sent. */
  onSettled?: ((ending: Ending, charge: Charge) => void) | undefined
  /** The request's log line. */
  line: RequestLine
  facts: PlannedFacts
  /** When the request arrived, by the monotonic clock. */
  arrivedMonotonicMs: number
  /** Called at the answer's end. Only set for the few answers from which tiers learn. */
  onObservedEnd?: ((end: AnswerEnd) => void) | undefined
}

/** The charge to record in case this process dies now. */
export function progressOf(open: OpenCharge, clock: Clock): Progress {
  const reading = readingOf(open)
  const charge = chargeAt(open, reading, 'disconnected')
  assert(charge.kind === 'charge', 'an abandoned answer is never free')
  const facts = factsOf(open, { ...charge, rule: 'expired' }, billOf(open, reading, charge), 'disconnected', clock)
  return { cost: charge.cost, facts }
}

/** The meter's reading. If cache writes are reported as one sum and the request asked for an hour, all count as one-hour writes. */
export function readingOf(open: OpenCharge): MeterReading {
  const { meter, writesForHour, counted, countedInput, countedUnits, isUnreached } = open
  const reading = meter.reading()
  if (isTierUnpriced(open, reading)) {
    reading.unknownUsage = [...(reading.unknownUsage ?? []), `service_tier ${reading.serviceTier}`]
  }
  if (isUnreached) reading.isUnreached = true
  if (countedInput !== undefined) reading.countedInput = countedInput
  if (countedUnits !== undefined) reading.countedUnits = countedUnits
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

/** Whether the answer's service tier has no price, and the operator does not bear the tier's cost. */
function isTierUnpriced({ pricing, bearsTiers }: OpenCharge, { serviceTier }: MeterReading): boolean {
  return serviceTier !== undefined && !bearsTiers && !listOfTier(pricing, serviceTier)
}

/** The charge if the answer ends with `ending`. */
export function chargeAt(open: OpenCharge, reading: MeterReading, ending: Ending): Charge {
  const { tools, hold } = open
  const charge = decideCharge(ending, reading, pricesOf(open, reading), hold.size)
  return tools ? chargeTools(charge, tools, reading.toolUses, hold.size.amount) : charge
}

/** The price list for the answer: of the service tier that it reports, or else of the requested one. */
export function pricesOf({ pricing, serviceTier: asked, hold }: OpenCharge, reading: MeterReading): PriceList {
  if (!pricing.serviceTiers) return pricing
  const tiers = { asked, answered: reading.serviceTier }
  return listForAnswer(pricing, tiers, claimedUsage(reading, hold.size.estimatedInput))
}

/** Our cost of an answer with this charge, including its losing calls. */
export function billOf(open: OpenCharge, reading: MeterReading, charge: Charge): ProviderBill {
  const { hold, outrun, tools } = open
  const bill = providerBill(reading, charge, costList(open, reading), hold.size, tools)
  if (!outrun) return bill
  const { providerCost } = bill
  return { ...bill, outrun, ...(providerCost !== undefined && { providerCost: nano(providerCost + outrun.cost) }) }
}

/** Our cost of an abandoned call, from its usage so far: at least the cost of the input by our own count. */
export function costThrownAway(open: OpenCharge): Nano | undefined {
  const reading = readingOf(open)
  const { hold, tools } = open
  const charge = chargeAt(open, reading, 'disconnected')
  return providerBill(reading, charge, costList(open, reading), hold.size, tools).providerCost
}

/** The prices that we pay in the service tier that the answer reports, or else in the requested one; undefined if unknown. */
function costList({ cost, serviceTier }: OpenCharge, reading: MeterReading): PriceList | undefined {
  return cost && listOfTier(cost, reading.serviceTier ?? serviceTier)
}

/** The charge if the answer ends successfully now. */
export function chargeNow(open: OpenCharge): Charge {
  return chargeAt(open, readingOf(open), 'complete')
}

/** The usage for the record and the client if the answer ends successfully now. */
export function usageNow(open: OpenCharge): Usage {
  const reading = readingOf(open)
  const charge = chargeAt(open, reading, 'complete')
  return charge.kind === 'charge' ? charge.usage : (reading.usage ?? ZERO_USAGE)
}

/** Whether the provider's latest usage is final, with no content afterwards. */
export function isUsageStated({ meter }: OpenCharge): boolean {
  return hasFinalUsage(meter.reading())
}

/** Counts the output so far. Undefined if that fails or takes too long. */
export async function countNow(open: OpenCharge): Promise<number | undefined> {
  const { meter, counted } = open
  const { countedOutput: ofGuess } = meter.reading()
  if (counted?.ofGuess === ofGuess) return counted.tokens
  const tokens = await countOutput(meter.said())
  open.counted = { tokens, ofGuess }
  return tokens
}

/** Whether a charge needs a count that is still missing; until then an estimate is used. */
export function lacksCount({ meter, hold, counted }: OpenCharge): boolean {
  const reading = meter.reading()
  return counted?.ofGuess !== reading.countedOutput && needsCount(reading, hold.size.bounds)
}

/** The facts of the usage record for this ending. */
export function factsOf(
  open: OpenCharge,
  { usage, rule, flags, tools }: Extract<Charge, { kind: 'charge' }>,
  bill: ProviderBill,
  ending: Ending,
  clock: Clock,
): RequestFacts {
  const { facts, meter, pricing, arrivedMonotonicMs } = open
  return {
    ...facts,
    answerId: facts.answerId ?? passedId(facts, meter),
    finish: meter.finishKind(),
    usage,
    rule,
    flags,
    tools,
    ...(pricing.serviceTiers && { serviceTier: tierOfList(pricing, pricesOf(open, readingOf(open))) }),
    status: statusAt(ending),
    firstTokenMs: meter.firstTokenMs(),
    durationMs: Math.round(clock.monotonic() - arrivedMonotonicMs),
    ...bill,
  }
}

const MAX_ID_CHARS = 128

/** The provider's id of the answer, if the client gets it: both use the same format, and the id is short. */
function passedId({ clientFormat, providerFormat }: PlannedFacts, meter: Meter): string | undefined {
  const { id } = meter.answeredAs()
  return clientFormat === providerFormat && id !== '' && id.length <= MAX_ID_CHARS ? id : undefined
}

/** The status that the client got; an interrupted answer had begun with 200. */
export function statusAt(ending: Ending): number {
  return ending === 'disconnected' || ending === 'unanswered' ? CLIENT_CLOSED_STATUS : 200
}
