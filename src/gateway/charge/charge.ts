/**
 * The billing matrix: from how a request ended and what its meter read, what it costs and by which rule.
 * docs/BILLING.md says the same for customers, a row for each rule; test/gateway/charge/charge.test.ts has a test for each row.
 */
import { requestCost } from '@/catalog/price'
import type { Pricing } from '@/catalog/types'
import { inputTokens, type Usage, ZERO_USAGE } from '@/chat/usage'
import type { Bounds } from '@/gateway/hold/hold-size'
import { type Charge, type Ending, FREE } from '@/ledger/charge'
import type { BillingRule, RecordFlag } from '@/ledger/usage-record'
import type { MeterReading } from './meter'

/** Decides the charge. `estimatedInput` is our own count of the prompt, for answers that come without usage. */
export function decideCharge(
  ending: Ending,
  reading: MeterReading,
  pricing: Pricing,
  bounds: Bounds,
  estimatedInput: number,
): Charge {
  if (ending === 'refused') return FREE
  if (ending === 'broken' && !reading.hasOutput) return FREE
  if (isEmptyError(ending, reading)) return FREE
  const isExact = reading.usage !== null && !reading.isUsageStale
  const claimed = claimedUsage(reading, estimatedInput)
  const usage = clampUsage(claimed, pricing, bounds)
  const flags: RecordFlag[] = []
  if (!isExact) flags.push('estimated')
  if (usage !== claimed) flags.push('clamped')
  const rule = chooseRule(ending, reading.usage !== null)
  return { kind: 'charge', cost: requestCost(pricing, usage), usage, rule, flags }
}

/** The provider's own usage, the very object, or the next best where it did not say all. */
export function claimedUsage(reading: MeterReading, estimatedInput: number): Usage {
  if (reading.usage && !reading.isUsageStale) return reading.usage
  return partialUsage(reading, estimatedInput)
}

function isEmptyError(ending: Ending, reading: MeterReading): boolean {
  const output = reading.usage?.output ?? reading.countedOutput
  return ending === 'complete' && reading.finish === 'error' && output === 0 && !reading.hasOutput
}

function chooseRule(ending: Exclude<Ending, 'refused'>, hasUsage: boolean): BillingRule {
  switch (ending) {
    case 'complete':
      return hasUsage ? 'usage' : 'counted'
    case 'broken':
      return hasUsage ? 'broken_usage' : 'broken_counted'
    case 'disconnected':
      return hasUsage ? 'disconnect_usage' : 'disconnect_counted'
  }
}

/**
 * Usage for an answer that has no final usage. Providers of the messages format state usage at the start, with one token of
 * output: its input counts, and the output is what was relayed, if that is more.
 */
function partialUsage(reading: MeterReading, estimatedInput: number): Usage {
  if (!reading.usage) return { ...ZERO_USAGE, uncached: estimatedInput, output: reading.countedOutput }
  return { ...reading.usage, output: Math.max(reading.usage.output, reading.countedOutput) }
}

/** The same object where nothing exceeds the bounds. Dear classes are cut first, in the customer's favour. */
function clampUsage(usage: Usage, pricing: Pricing, bounds: Bounds): Usage {
  if (isPossible(usage, pricing, bounds)) return usage
  let room = bounds.inputTokens
  function take(tokens: number): number {
    const taken = Math.min(tokens, room)
    room -= taken
    return taken
  }
  const output = Math.min(usage.output, bounds.outputTokens)
  return {
    cacheRead: take(usage.cacheRead),
    uncached: take(usage.uncached),
    cacheWrite5m: take(usage.cacheWrite5m),
    cacheWrite1h: take(usage.cacheWrite1h),
    output,
    reasoning: Math.min(usage.reasoning, output),
  }
}

function isPossible(usage: Usage, pricing: Pricing, { inputTokens: input, outputTokens, beyond }: Bounds): boolean {
  if (usage.output > outputTokens) return false
  if (inputTokens(usage) <= input) return true
  return beyond !== undefined && inputTokens(usage) <= beyond.inputTokens && requestCost(pricing, usage) <= beyond.cost
}
