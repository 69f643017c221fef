/** Decides a request's cost and billing rule from its ending and its meter. docs/BILLING.md has a row for each rule. No side effects. */
import { requestCost } from '@/catalog/price'
import type { PriceList, ToolPrice } from '@/catalog/types'
import { tokensWithin, unitsWithin, withFee } from '@/catalog/unit-prices'
import { USUAL_PICTURE_TOKENS } from '@/chat/picture'
import type { ToolUses } from '@/chat/server-tools'
import { tokensOf } from '@/chat/units'
import { inputTokens, type Usage, withUnits, ZERO_USAGE } from '@/chat/usage'
import type { Bounds, HoldSize } from '@/gateway/hold/hold-size'
import { type Charge, type Ending, FREE } from '@/ledger/charge'
import type { BillingRule, RecordFlag, ToolCharge } from '@/ledger/usage-record'
import { type Nano, nano } from '@/lib/money'
import type { MeterReading } from './meter'

type Covered = Pick<HoldSize, 'amount' | 'bounds' | 'estimatedInput'>

/** An offered tool, with the price at the answering target. */
export type ToolTerms = Pick<ToolPrice, 'price' | 'cost' | 'per'> & {
  name: string
  /** The number of uses to charge if the answer doesn't report it. */
  unsaidUses: number
}

/**
 * Our tokenizer differs from the provider's: for some scripts, the provider may count half as many tokens as we do. So if an answer seems
 * longer than its limit, our count decides only if it exceeds the limit by this factor. Otherwise honest answers would be cut, or wrong
 * bills accepted.
 */
const VOCABULARY_FACTOR = 2
/** Tokens by which the provider's count may exceed ours besides {@link AGREEMENT_FACTOR}: short answers differ by more. */
const SLACK_TOKENS = 50
/** The provider's count is confirmed if it exceeds ours by at most this factor. */
const AGREEMENT_FACTOR = 1.25

/** Decides the charge. For `unanswered`, the ledger may still make it free, since it counts the free disconnects. */
export function decideCharge(ending: Ending, seen: MeterReading, pricing: PriceList, covered: Covered): Charge {
  if (ending === 'refused' || (ending === 'unanswered' && seen.isUnreached)) return FREE
  const reading = ending === 'unanswered' ? onlyAsked(seen) : seen
  if (ending === 'broken' && !reading.hasOutput) return FREE
  if (isEmptyError(ending, reading)) return FREE
  const isExact = hasFinalUsage(reading)
  const stated = withPictures(claimedUsage(reading, covered.estimatedInput), reading, pricing)
  const claimed = ending === 'unanswered' ? stated : withFee(stated, pricing)
  const counted = reading.isCounted ? reading.countedOutput : undefined
  const { outputTokens: outputBound } = covered.bounds
  const output = confirmedOutput(claimed.output, { counted, isStated: isExact, outputBound })
  const usage = boundUsage(claimed, output, pricing, covered)
  const flags: RecordFlag[] = []
  if (!isExact) flags.push('estimated')
  if (usage !== claimed) flags.push('clamped')
  const rule = chooseRule(ending, reading.usage !== null)
  return { kind: 'charge', cost: requestCost(pricing, usage), usage, rule, flags }
}

/** Whether a charge depends on our count of the output, so that an estimate is not enough. */
export function needsCount(reading: MeterReading, { outputTokens }: Bounds): boolean {
  if (reading.isCounted || reading.countedOutput === 0) return false
  return !hasFinalUsage(reading) || (reading.usage?.output ?? 0) > outputTokens
}

/** Whether the provider has reported the usage of the whole answer, with no content afterwards. */
export function hasFinalUsage({ usage, isUsageStale }: MeterReading): boolean {
  return usage !== null && !isUsageStale
}

/** The provider's own usage object, or our best estimate if it is incomplete. */
export function claimedUsage(reading: MeterReading, estimatedInput: number): Usage {
  if (reading.usage && !reading.isUsageStale) return reading.usage
  return partialUsage(reading, estimatedInput)
}

/** Adds picture tokens if pictures have a price and the provider reports no such tokens: an estimate, or all output except text. */
export function withPictures(usage: Usage, reading: MeterReading, { lines }: PriceList): Usage {
  const { pictures, countedOutput } = reading
  if (!pictures || !lines || tokensOf(usage.units, 'output_image') > 0) return usage
  const isFinal = hasFinalUsage(reading)
  const count = isFinal ? Math.max(0, usage.output - usage.reasoning - countedOutput) : pictures * USUAL_PICTURE_TOKENS
  const output = isFinal ? usage.output : usage.output + count
  return withUnits({ ...usage, output }, usage.units, [{ billable: 'output_image', unit: 'token', count }])
}

/** The meter's reading reduced to our own count of the input, for a charge without output. */
function onlyAsked({ countedInput, countedUnits }: MeterReading): MeterReading {
  const silence = { usage: null, isUsageStale: false, countedOutput: 0, hasOutput: false, finish: undefined }
  return { ...silence, ...(countedInput !== undefined && { countedInput }), ...(countedUnits && { countedUnits }) }
}

function isEmptyError(ending: Ending, reading: MeterReading): boolean {
  const output = reading.usage?.output ?? reading.countedOutput
  const isNoAnswer = reading.finish === 'error' || reading.finish === 'unknown'
  return ending === 'complete' && isNoAnswer && output === 0 && !reading.hasOutput
}

function chooseRule(ending: Exclude<Ending, 'refused'>, hasUsage: boolean): BillingRule {
  switch (ending) {
    case 'cut':
      return hasUsage ? 'cut_usage' : 'cut_counted'
    case 'complete':
      return hasUsage ? 'usage' : 'counted'
    case 'broken':
      return hasUsage ? 'broken_usage' : 'broken_counted'
    case 'disconnected':
      return hasUsage ? 'disconnect_usage' : 'disconnect_counted'
    case 'unanswered':
      return 'hangup_input'
  }
}

/** The usage if the final one is missing. Providers of `messages` report input first; output is at least our count of the relayed text. */
function partialUsage(reading: MeterReading, estimatedInput: number): Usage {
  if (!reading.usage) {
    const uncached = reading.countedInput ?? estimatedInput
    return withUnits({ ...ZERO_USAGE, uncached, output: reading.countedOutput }, reading.countedUnits)
  }
  return { ...reading.usage, output: Math.max(reading.usage.output, reading.countedOutput) }
}

/** Limits usage to the hold's bounds; usage within them is returned as is. Confirmed `output` above them is charged if the hold pays it. */
function boundUsage(stated: Usage, output: number, pricing: PriceList, { amount, bounds }: Covered): Usage {
  const { outputTokens: most } = bounds
  const claimed = pricing.lines ? unitsWithin(stated, pricing.lines, bounds.units) : stated
  const limited = claimed.output <= most ? claimed : withOutput(claimed, most)
  const possible = isPossible(limited, pricing, bounds) ? limited : clampUsage(limited, bounds)
  if (output <= most) return possible
  const paid = mostPaid(possible, pricing, amount, most, output)
  if (possible === limited && paid === claimed.output) return claimed
  return { ...possible, output: paid, reasoning: Math.min(claimed.reasoning, paid) }
}

function withOutput(usage: Usage, output: number): Usage {
  return tokensWithin(usage, { output, reasoning: Math.min(usage.reasoning, output) })
}

/** The maximum output between `low` and `high` that `amount` can pay in addition to `usage`. */
function mostPaid(usage: Usage, pricing: PriceList, amount: Nano, low: number, high: number): number {
  let [least, most] = [low, high]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (requestCost(pricing, withOutput(usage, middle)) <= amount) least = middle
    else most = middle - 1
  }
  return least
}

/** The usage within the bounds. The most expensive kinds of tokens are cut first, in the customer's favour. */
function clampUsage(usage: Usage, bounds: Bounds): Usage {
  let room = bounds.inputTokens
  function take(tokens: number): number {
    const taken = Math.min(tokens, room)
    room -= taken
    return taken
  }
  const output = Math.min(usage.output, bounds.outputTokens)
  return tokensWithin(usage, {
    cacheRead: take(usage.cacheRead),
    uncached: take(usage.uncached),
    cacheWrite5m: take(usage.cacheWrite5m),
    cacheWrite1h: take(usage.cacheWrite1h),
    output,
    reasoning: Math.min(usage.reasoning, output),
  })
}

function isPossible(usage: Usage, pricing: PriceList, { inputTokens: input, outputTokens, beyond }: Bounds): boolean {
  if (usage.output > outputTokens) return false
  if (inputTokens(usage) <= input) return true
  return beyond !== undefined && inputTokens(usage) <= beyond.inputTokens && requestCost(pricing, usage) <= beyond.cost
}

/** The maximum that our tokenizer may count for an honest answer with the limit `outputBound`. */
export function beyondLimit(outputBound: number): number {
  return outputBound * VOCABULARY_FACTOR + SLACK_TOKENS
}

/**
 * The output to charge for `claimed` tokens. `counted` is our count of the relayed text, or undefined. `isStated`: `claimed` is
 * the provider's final figure. Output beyond the limit is charged as far as our count confirms it; hidden reasoning beyond it is not.
 */
function confirmedOutput(
  claimed: number,
  { counted, isStated, outputBound }: { counted: number | undefined; isStated: boolean; outputBound: number },
): number {
  if (claimed <= outputBound) return claimed
  const isConfirmed = counted !== undefined && counted > (isStated ? outputBound : beyondLimit(outputBound))
  if (!isConfirmed) return outputBound
  return claimed <= counted * AGREEMENT_FACTOR ? claimed : counted
}

/** Adds the tools' cost, unless the provider has not answered. Uses that the remaining hold can't pay are free (`clamped`). */
export function chargeTools(
  charge: Charge,
  terms: readonly ToolTerms[],
  uses: ToolUses | undefined,
  held: Nano,
): Charge {
  if (charge.kind === 'free' || charge.rule === 'hangup_input') return charge
  const tools: ToolCharge[] = []
  let cost: number = charge.cost
  let isClamped = false
  for (const { name, price, per, unsaidUses } of terms) {
    const wanted = billable(per, uses?.[name] ?? unsaidUses)
    const payable = price === 0 ? wanted : Math.min(wanted, Math.max(0, Math.floor((held - cost) / price)))
    if (payable < wanted) isClamped = true
    if (payable === 0) continue
    cost += payable * price
    tools.push({ name, uses: payable, cost: nano(payable * price) })
  }
  const flags = isClamped ? [...new Set([...charge.flags, 'clamped' as const])] : charge.flags
  return { ...charge, cost: nano(cost), flags, ...(tools.length > 0 && { tools }) }
}

/** The uses to charge; for a tool priced per request, at most one. */
export function billable(per: ToolTerms['per'], uses: number): number {
  return per === 'request' ? Math.min(uses, 1) : uses
}
