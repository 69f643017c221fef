import { estimateInput, type InputSizes, measureInputs } from '@/catalog/embedding-size'
import type { Catalog, Model, Target } from '@/catalog/types'
import { type EmbeddingInput, type EmbeddingRequest, MAX_EMBEDDING_TOKENS } from '@/chat/embedding'
import { GatewayError, invalidRequest } from '@/chat/error'
import { FORMATS } from '@/formats/index'
import { refuseByData, underRules } from './data-rules'
import { findModelOrTier, type Plan } from './plan'
import { arrangeTargets, checkProviderNames, isOrdered, isWanted, noneWanted, tooDear } from './preferences'
import { checkAllowed, checkKind, noneCanServe, type Permitted, permittedTargets } from './refusal'
import { ESTIMATE_TOLERANCE, type Unmet } from './requirements'
import { BLIND_VIEW, type RouteView } from './route-view'

export type EmbeddingPlan = Plan & { model: Model; sizes: InputSizes }

type EmbeddingPlanOptions = Permitted & { view?: RouteView }

/**
 * Builds the plan of embeddings: only the named model's targets, since vectors of different models can't be compared. Throws
 * `model_not_found` for an unknown name, `forbidden` for a model that the key may not use, `context_length_exceeded` for an input that is
 * surely too long, and `invalid_request` if the model cannot serve the request.
 */
export function buildEmbeddingPlan(
  catalog: Catalog,
  asked: EmbeddingRequest,
  options: EmbeddingPlanOptions = {},
): EmbeddingPlan {
  const request = underRules(asked, options.dataRules)
  const view = options.view ?? BLIND_VIEW
  const model = findEmbedder(catalog, request, options)
  checkLengths(request, model)
  const sizes = measureInputs(request.inputs)
  const targets = wantedTargets(catalog, request, model, sizes, options).map((target) => ({ model, target }))
  const usable = targets.filter(({ target }) => view.isUsable(target))
  return {
    model,
    sizes,
    targets: [...usable, ...targets.filter((planned) => !usable.includes(planned))],
    models: [model],
    requested: request.model,
    requestedId: model.id,
    passedOver: [],
    choice: undefined,
    requirements: { capabilities: new Set(), prompt: sizes, inputTokens: sizes.estimatedTokens, outputTokens: 0 },
    hasOwnFallback: false,
    isWished: isOrdered(request.preferences),
    data: request.preferences?.data,
  }
}

function findEmbedder(catalog: Catalog, { model }: EmbeddingRequest, permitted: Permitted): Model {
  const found = findModelOrTier(catalog, model, 'model')
  checkAllowed(permitted, found, 'model')
  checkKind(catalog, found, 'embedding', 'model')
  return found as Model
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

/** Only surely too long texts are refused: the provider counts exactly, and some shorten texts themselves. */
function surely(input: EmbeddingInput): number {
  const tokens = estimateInput(input)
  return input.type === 'tokens' ? tokens : Math.floor(tokens * ESTIMATE_TOLERANCE)
}

function tooLong(message: string): GatewayError {
  return new GatewayError('context_length_exceeded', message, { param: 'input' })
}

function wantedTargets(
  catalog: Catalog,
  { inputs, preferences }: EmbeddingRequest,
  model: Model,
  sizes: InputSizes,
  { view = BLIND_VIEW, allowedProviders }: EmbeddingPlanOptions,
): Target[] {
  const permitted = permittedTargets(allowedProviders, model)
  const isTokens = inputs.some(({ type }) => type === 'tokens')
  const able = isTokens ? permitted.filter(readsTokens) : permitted
  if (able.length === 0) {
    throw invalidRequest(
      `input: ${model.id} is served by providers that read texts, not tokens. Send the text.`,
      'input',
    )
  }
  if (!preferences) return able
  checkProviderNames(catalog, preferences)
  const wanted = able.filter((target) => isWanted(target, preferences))
  const unmet: Unmet[] = wanted.length === 0 ? [noneWanted(able, preferences)] : []
  const dear = tooDear(model, preferences, sizes.estimatedTokens)
  if (dear) unmet.push(dear)
  refuseByData(unmet.length > 0 ? [{ model, unmet }] : [])
  if (unmet.length > 0) throw noneCanServe([{ model, unmet }])
  return arrangeTargets(wanted, { preferences, view, stream: false })
}

function readsTokens({ provider, model, family = model }: Target): boolean {
  const own = provider.dialect.embeddings?.(family)
  return (own ?? FORMATS.get(provider.format)?.embeddings)?.takesTokens ?? false
}
