/** Computes how much credit a request must reserve: the most it can cost at any model that may answer it. */
import { inputBound, mediaBound, outputCap, type Prompt, tokenizerCount } from '@/catalog/estimate'
import { inputCost, listOfTier, worstCaseCost } from '@/catalog/price'
import { refuseUnpriceable } from '@/catalog/priceable'
import { dearestTools, inputWithTools } from '@/catalog/tool-allowance'
import type { Model, Target } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import { serviceTierOf } from '@/chat/service-tier'
import { isInput, isSameUnit, type UnitCount } from '@/chat/units'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { MAX_NANO, type Nano, nano, ZERO_NANO } from '@/lib/money'
import type { Plan, PlannedTarget } from '@/routing/plan/plan'

/** The usage that a hold covers. `beyond`: if `inputTokens` is a close estimate, more input is accepted up to this size and cost. */
export type Bounds = {
  inputTokens: number
  outputTokens: number
  /** Maximum units other than tokens, and maximum tokens of sounds and pictures; missing if the models have no such prices. */
  units?: readonly UnitCount[]
  beyond?: { inputTokens: number; cost: Nano }
}

export type HoldSize = {
  amount: Nano
  /** The cost of only the input at the first model, charged if the gateway dies after the upstream was reached. */
  inputCost: Nano
  bounds: Bounds
  /** Counted against the key's tokens per minute: the estimated input plus the caller's own output limit, if any. */
  rateTokens: number
  /** Our estimate of the input tokens, for answers without usage. */
  estimatedInput: number
  /** Input tokens that are reserved for files. */
  fileTokens?: number
}

/** The output limit is never lowered below this: a shorter answer would be useless. */
const MIN_LOWERED_CAP = 256

type Sized = { request: ChatRequest; prompt: Prompt; plan: Pick<Plan, 'models' | 'targets'> }

/** A first size, quick to compute: one token per input byte. Throws `invalid_request` for content without a price at these models. */
export function quickSize(sized: Sized, bodyBytes: number): HoldSize {
  const { request, prompt, plan } = sized
  refuseUnpriceable(request, plan.targets.map(targetOf))
  return sizeFor(sized, prompt.estimatedTokens, (model) => {
    const bound = inputBound(prompt, bodyBytes, model.contextLength) + grownBytes(sized, model)
    return request.serverTools ? boundWithTools(request.serverTools, plan, model, bound) : bound
  })
}

function targetOf({ target }: PlannedTarget): Target {
  return target
}

/** Maximum bytes by which a target's format makes the request's schemas longer, over all targets of the model. */
function grownBytes({ prompt: { schemaBytes }, plan: { targets } }: Sized, model: Model): number {
  if (schemaBytes === 0) return 0
  let most = 0
  for (const { model: own, target } of targets) {
    if (own !== model) continue
    most = Math.max(most, FORMATS.get(target.provider.format)?.grownSchemas?.(schemaBytes, target.quirks) ?? 0)
  }
  return most
}

/** Maximum input tokens at any target of the model, including the text that tools add. */
function boundWithTools(tools: readonly ServerTool[], { targets }: Sized['plan'], model: Model, bound: number): number {
  const own = targets.filter((planned) => planned.model === model).map(({ target }) => target)
  return inputWithTools(tools, own, bound, model.contextLength)
}

/** The maximum cost of the request's tools, at the most expensive target. */
function toolsCost({ request: { serverTools }, plan: { targets } }: Sized): Nano {
  if (!serverTools) return ZERO_NANO
  return dearestTools(serverTools, targets.map(targetOf))
}

/** A smaller size, if the balance can't pay `quick`: our token count times a safety factor. Returns `quick` if parts can't be counted. */
export async function exactSize(sized: Sized, quick: HoldSize, accountId = ''): Promise<HoldSize> {
  const { request, prompt } = sized
  if (request.nativeOnly?.length || request.hostedHistory?.length) return quick
  const counted = await tokenizerCount(prompt, accountId)
  const bound = (model: Model) => {
    const text = Math.ceil(counted * model.tokenizerSafetyFactor) + grownBytes(sized, model)
    return Math.min(text + mediaBound(prompt, model.contextLength), quick.bounds.inputTokens)
  }
  return withRoomBeyond(sizeFor(sized, quick.estimatedInput, bound), quick.bounds.inputTokens)
}

/** The largest output limit that `available` can pay at all models, if it is lower than theirs; undefined below {@link MIN_LOWERED_CAP}. */
export function affordableCap(sized: Sized, size: HoldSize, available: Nano): number | undefined {
  const { request, plan } = sized
  const { models } = plan
  const room = available - toolsCost(sized)
  const tier = serviceTierOf(request.serviceTier)
  let low = MIN_LOWERED_CAP
  let high = Math.min(...models.map((model) => model.maxOutputTokens))
  const input = size.bounds.inputTokens
  const fits = (cap: number) =>
    models.every((model) => {
      const output = cap * request.choices
      return worstCaseCost(model.pricing, input, output, tier, mostParts(sized, model, output)) <= room
    })
  if (high < low || !fits(low)) return undefined
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

/** The size after the request's own output limit was lowered. */
export function resize(sized: Sized, size: HoldSize): HoldSize {
  const resized = sizeFor(sized, size.estimatedInput, () => size.bounds.inputTokens)
  const { beyond } = size.bounds
  return beyond ? withRoomBeyond(resized, beyond.inputTokens) : resized
}

function withRoomBeyond(size: HoldSize, inputTokens: number): HoldSize {
  return { ...size, bounds: { ...size.bounds, beyond: { inputTokens, cost: size.amount } } }
}

/** Maximum tokens of sounds and pictures, if the model has separate prices for them; undefined for most models, which have none. */
function mostParts({ prompt }: Sized, { pricing, contextLength }: Model, output: number): UnitCount[] | undefined {
  if (!pricing.lines) return undefined
  const media = mediaBound(prompt, contextLength)
  const countOf = (billable: UnitCount['billable']) => {
    if (!isInput(billable)) return output
    // A picture has no sound; files of other kinds may contain both.
    return billable === 'input_audio' && !prompt.hasFiles ? 0 : media
  }
  return pricing.lines
    .filter(({ unit }) => unit === 'token')
    .map(({ billable, unit }) => ({ billable, unit, count: countOf(billable) }))
}

/** For each kind of unit, the larger one of both counts. */
function largerOf(known: readonly UnitCount[] = [], parts: readonly UnitCount[]): UnitCount[] {
  const larger = parts.map((part) => {
    const other = known.find((one) => isSameUnit(one, part))
    return other && other.count > part.count ? other : part
  })
  return [...larger, ...known.filter((one) => !parts.some((part) => isSameUnit(one, part)))]
}

function sizeFor(sized: Sized, estimatedInput: number, boundFor: (model: Model) => number): HoldSize {
  const { request, prompt } = sized
  const { models } = sized.plan
  const first = models[0]
  assert(first, 'a plan has at least one model')
  const tier = serviceTierOf(request.serviceTier)
  let amount = 0
  const bounds: Bounds = { inputTokens: 0, outputTokens: 0 }
  for (const model of models) {
    const input = boundFor(model)
    const output = outputCap(request, model)
    bounds.inputTokens = Math.max(bounds.inputTokens, input)
    bounds.outputTokens = Math.max(bounds.outputTokens, output)
    const parts = mostParts(sized, model, output)
    if (parts) bounds.units = largerOf(bounds.units, parts)
    amount = Math.max(amount, worstCaseCost(model.pricing, input, output, tier, parts))
  }
  amount = Math.min(amount + toolsCost(sized), MAX_NANO)
  const rateTokens = estimatedInput + (request.maxOutputTokens ?? 0) * request.choices
  const list = listOfTier(first.pricing, tier) ?? first.pricing
  const leastCost = Math.min(inputCost(list, Math.min(estimatedInput, bounds.inputTokens)), amount)
  const size = { amount: nano(amount), inputCost: nano(leastCost), bounds, rateTokens, estimatedInput }
  return prompt.hasFiles ? { ...size, fileTokens: Math.min(prompt.mediaTokens, bounds.inputTokens) } : size
}
