import { requestCost } from '@/catalog/price'
import type { PriceList } from '@/catalog/types'
import { withFee } from '@/catalog/unit-prices'
import type { ToolUses } from '@/chat/server-tools'
import { inputTokens, type Usage } from '@/chat/usage'
import type { HoldSize } from '@/gateway/hold/hold-size'
import type { Charge } from '@/ledger/charge'
import type { CountGap, DifferingCounts, RequestFacts } from '@/ledger/usage-record'
import { NANO_PER_USD, type Nano, nano } from '@/lib/money'
import { billable, claimedUsage, type ToolTerms, withPictures } from './charge'
import type { MeterReading } from './meter'

/** Facts for operators; each is undefined if unknown. */
export type ProviderBill = Pick<
  RequestFacts,
  'providerCost' | 'outrun' | 'counts' | 'hasUnpricedUsage' | 'isReclassified'
>

/** The provider's count and ours differ suspiciously if one exceeds the other by this factor. */
const FAR_APART = 2
/** Only larger differences are suspicious, since providers add text to prompts and tokenizers differ. */
const INPUT_SLACK_TOKENS = 1_500
const OUTPUT_SLACK_TOKENS = 500
/** A larger stated cost is ignored, so that sums fit into their column. */
const MAX_PROVIDER_COST = 10_000 * NANO_PER_USD

/** Our cost of an answer charged as `charge`, or the provider's stated cost, for operators only. A free answer may still have a cost. */
export function providerBill(
  reading: MeterReading,
  charge: Charge,
  cost: PriceList | undefined,
  { estimatedInput }: Pick<HoldSize, 'estimatedInput'>,
  tools: readonly ToolTerms[] = [],
): ProviderBill {
  // The number of input tokens that a provider adds for its tools is unknown.
  const hasTools = charge.kind === 'charge' && charge.tools !== undefined
  const toolCost = costOfTools(tools, reading.toolUses, charge)
  const stated = reading.isUsageStale ? undefined : reading.statedCost
  const isKnown = cost !== undefined && toolCost !== undefined && (charge.kind === 'charge' || reading.usage !== null)
  const reckoned = isKnown
    ? requestCost(cost, withFee(withPictures(claimedUsage(reading, estimatedInput), reading, cost), cost)) + toolCost
    : undefined
  const providerCost = plausible(stated ?? reckoned)
  const isClamped = charge.kind === 'charge' && charge.flags.includes('clamped')
  const counts = reading.usage
    ? differingCounts(reading.usage, reading, estimatedInput, { isClamped, hasTools })
    : undefined
  const bill: ProviderBill = {}
  if (providerCost !== undefined) bill.providerCost = providerCost
  if (counts) bill.counts = counts
  if (reading.unknownUsage) bill.hasUnpricedUsage = true
  if (reading.isReclassified) bill.isReclassified = true
  return bill
}

function plausible(cost: number | undefined): Nano | undefined {
  return cost !== undefined && cost <= MAX_PROVIDER_COST ? nano(cost) : undefined
}

/** The provider's count and ours, if suspiciously different. Output with hidden reasoning or without a final usage is not compared. */
function differingCounts(
  usage: Usage,
  { countedOutput, isUsageStale }: MeterReading,
  localInput: number,
  { isClamped, hasTools }: { isClamped: boolean; hasTools: boolean },
): DifferingCounts | undefined {
  // Each count is a safe integer, but their sum may not be.
  const providerInput = Math.min(inputTokens(usage), Number.MAX_SAFE_INTEGER)
  const inputGap = hasTools ? undefined : gapOf(providerInput, providerInput, localInput, INPUT_SLACK_TOKENS)
  const outputGap = isUsageStale
    ? undefined
    : gapOf(usage.output - usage.reasoning, usage.output, countedOutput, OUTPUT_SLACK_TOKENS)
  if (!inputGap && !outputGap && !isClamped) return undefined
  const gaps: CountGap[] = []
  if (inputGap) gaps.push(`input_${inputGap}`)
  if (outputGap) gaps.push(`output_${outputGap}`)
  if (isClamped) gaps.push('clamped')
  return { gaps, providerInput, providerOutput: usage.output, localInput, localOutput: countedOutput }
}

/** Whether the provider counted far more than our count `local`, or far less. */
function gapOf(least: number, most: number, local: number, slack: number): 'over' | 'under' | undefined {
  if (least > local * FAR_APART && least - local > slack) return 'over'
  if (most * FAR_APART < local && local - most > slack) return 'under'
  return undefined
}

/** Our cost of an answer's tools: all reported uses, whether charged or not. Undefined if one cost is unknown. */
function costOfTools(terms: readonly ToolTerms[], uses: ToolUses | undefined, charge: Charge): number | undefined {
  const charged = charge.kind === 'charge' ? charge.tools : undefined
  let sum = 0
  for (const { name, cost, per } of terms) {
    const used = uses?.[name] ?? charged?.find((tool) => tool.name === name)?.uses ?? 0
    if (used === 0) continue
    if (cost === undefined) return undefined
    sum += billable(per, used) * cost
  }
  return sum
}
