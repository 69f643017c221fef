import { estimateInput, measureInputs } from '@/catalog/embedding-size'
import type { Catalog, Model, Target } from '@/catalog/types'
import { type EmbeddingInput, type EmbeddingRequest, MAX_EMBEDDING_TOKENS } from '@/chat/embedding'
import { GatewayError, invalidRequest } from '@/chat/error'
import { FORMATS } from '@/formats/index'
import { underRules } from './data-rules'
import { findNamed, type NamedPlan, type NamedPlanOptions, planNamed } from './plan-named'
import { permittedTargets } from './refusal'
import { ESTIMATE_TOLERANCE } from './requirements'

export type EmbeddingPlan = NamedPlan

/**
 * Builds the plan of embeddings: only the named model's targets, since vectors of different models can't be compared. Throws
 * `model_not_found` for an unknown name, `forbidden` for a model that the key may not use, `context_length_exceeded` for an input that is
 * surely too long, and `invalid_request` if the model cannot serve the request.
 */
export function buildEmbeddingPlan(
  catalog: Catalog,
  asked: EmbeddingRequest,
  options: NamedPlanOptions = {},
): EmbeddingPlan {
  const request = underRules(asked, options.dataRules)
  const { inputs, preferences, model: requested } = request
  const model = findNamed(catalog, requested, 'embedding', options)
  checkLengths(request, model)
  const able = ableTargets(request, model, options)
  const named = { model, able, sizes: measureInputs(inputs), preferences, requested, stream: false }
  return planNamed(catalog, named, options)
}

function checkLengths({ inputs, isLone }: EmbeddingRequest, { id, contextLength }: Model): void {
  let inAll = 0
  for (const [index, input] of inputs.entries()) {
    const tokens = surely(input)
    inAll += tokens
    if (tokens <= contextLength) continue
    const which = isLone || inputs.length === 1 ? 'The input' : `Input ${index}`
    throw tooLong(`${which} has at least ${tokens} tokens; ${id} reads at most ${contextLength} of each.`)
  }
  if (inAll <= MAX_EMBEDDING_TOKENS) return
  throw tooLong(`The inputs have at least ${inAll} tokens; one request takes at most ${MAX_EMBEDDING_TOKENS} in all.`)
}

/** The minimum tokens of an input. Only a text that is surely too long is refused: some providers shorten texts themselves. */
function surely(input: EmbeddingInput): number {
  const tokens = estimateInput(input)
  return input.type === 'tokens' ? tokens : Math.floor(tokens * ESTIMATE_TOLERANCE)
}

function tooLong(message: string): GatewayError {
  return new GatewayError('context_length_exceeded', message, { param: 'input' })
}

function ableTargets(
  { inputs }: EmbeddingRequest,
  model: Model,
  { allowedProviders }: NamedPlanOptions,
): readonly Target[] {
  const permitted = permittedTargets(allowedProviders, model)
  const isTokens = inputs.some(({ type }) => type === 'tokens')
  const able = isTokens ? permitted.filter(readsTokens) : permitted
  if (able.length > 0) return able
  throw invalidRequest(`input: ${model.id} is served by providers that read texts, not tokens. Send the text.`, 'input')
}

function readsTokens({ provider, model, family = model }: Target): boolean {
  const own = provider.dialect.embeddings?.(family)
  return (own ?? FORMATS.get(provider.format)?.embeddings)?.takesTokens ?? false
}
