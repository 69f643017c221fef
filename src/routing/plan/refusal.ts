/** Reasons and errors for refusing models that the key may not use, that have another kind, or that cannot serve the request. */

import { takesTools } from '@/catalog/tool-allowance'
import type { Catalog, Model, ModelKind, Target, Tier } from '@/catalog/types'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { DataRule } from '@/chat/preferences'
import type { ChatRequest } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import type { PassedOver, Unmet } from './requirements'

/** Maximum models that one error message names; a tier may have many. */
const MAX_NAMED = 8

/** The 400 for a request that no model can serve; `boundField` is the first field that not every format supports. */
export function noneCanServe(passedOver: readonly PassedOver[], boundField?: string): GatewayError {
  const details = Object.fromEntries(
    passedOver
      .slice(0, MAX_NAMED)
      .map(({ model, unmet }) => [model.id, unmet.map((item) => item.requirement).join(', ')]),
  )
  const reasons = passedOver
    .slice(0, MAX_NAMED)
    .map(({ model, unmet }) => `${model.id} ${unmet.map((item) => item.detail).join(' and ')}`)
  const more = passedOver.length > MAX_NAMED ? `; and ${passedOver.length - MAX_NAMED} more` : ''
  const message = `No model can serve this request: ${reasons.join('; ')}${more}.`
  // Clients shorten a conversation by themselves on this error. Models that the key may not use would not have helped.
  const isOnlyLength = passedOver.every(({ unmet }) =>
    unmet.every(({ requirement }) => requirement === 'context-length' || requirement === 'permission'),
  )
  if (isOnlyLength) return new GatewayError('context_length_exceeded', message, { param: 'messages', details })
  // The fields to name in the error if each model was skipped because of them.
  const blamable = [
    ['max-price', 'svc.max_price'],
    ['providers', 'svc.providers'],
    ['lossless', boundField],
  ] as const
  const blamed = blamable.find(([requirement]) =>
    passedOver.every(({ unmet }) => unmet.some((item) => item.requirement === requirement)),
  )
  const param = blamed?.[1] ?? 'model'
  return new GatewayError('invalid_request', message, { param, code: 'no_capable_model', details })
}

/** Throws the 400 for a provider-run tool that none of the requested models supports, with the models that do. */
export function refuseUntakenTools(
  catalog: Catalog,
  request: ChatRequest,
  format: FormatName | undefined,
  passedOver: readonly PassedOver[],
): void {
  const serverTools = request.serverTools?.filter(({ isOptional }) => !isOptional) ?? []
  const [first] = serverTools
  const takes = (model: Model, tools: readonly ServerTool[]) =>
    model.targets.some((target) => target.provider.format === format && takesTools(target, tools))
  if (!first || passedOver.some(({ model }) => takes(model, serverTools))) return
  const untaken = serverTools.find((tool) => !passedOver.some(({ model }) => takes(model, [tool]))) ?? first
  const takers = [...catalog.models.values()].filter((model) => takes(model, [untaken])).map(({ id }) => id)
  const others =
    takers.length > 0 ? `Models that take it: ${takers.slice(0, MAX_NAMED).join(', ')}` : 'No model takes it'
  const { field, kind } = untaken
  const what = field === kind ? field : `${field} (${kind})`
  throw invalidRequest(`${what}: no price covers it here, or the model speaks another format. ${others}.`, field)
}

/** The endpoints for embeddings, as errors name them. */
const EMBEDDING_PATHS = 'POST /v1/embeddings, or models/{model}:embedContent and :batchEmbedContents'

/** For each kind of model, its use and its endpoint, as errors name them. */
const USES: Readonly<Record<ModelKind, string>> = {
  chat: 'is a chat model: send it chat requests.',
  embedding: `embeds texts and answers no conversation. Ask it at ${EMBEDDING_PATHS}.`,
  image: 'makes pictures. Ask it at POST /v1/images/generations.',
  speech: 'makes speech from texts. Ask it at POST /v1/audio/speech.',
  transcription: 'transcribes speech. Ask it at POST /v1/audio/transcriptions.',
  rerank: 'sorts documents. Ask it at POST /v1/rerank.',
}

/** Throws `invalid_request` with the code `wrong_endpoint` for the field `param`, if the named model is of another kind. */
export function checkKind(catalog: Catalog, named: Model | Tier, kind: ModelKind, param: string): void {
  const own: ModelKind = 'candidates' in named ? 'chat' : named.kind
  if (own === kind) return
  const others = kind === 'chat' ? '' : ` ${modelsOf(catalog, kind)}`
  throw new GatewayError('invalid_request', `'${named.id}' ${USES[own]}${others}`, { param, code: 'wrong_endpoint' })
}

function modelsOf({ models }: Catalog, kind: ModelKind): string {
  const ids = [...models.values()].flatMap((model) => (model.kind === kind ? [model.id] : []))
  const which = kind === 'embedding' ? 'that embed' : `of kind ${kind}`
  return ids.length === 0 ? `There are no models ${which}.` : `Models ${which}: ${ids.slice(0, MAX_NAMED).join(', ')}.`
}

/** Ids of models or names of providers; null or undefined = all. */
type Ids = readonly string[] | null | undefined

/** The models and providers that a key may use, and the rules of where its content may go. A tier may be used if one of its candidates may. */
export type Permitted = { allowedModels?: Ids; allowedProviders?: Ids; dataRules?: readonly DataRule[] | undefined }

/** Reasons to skip a model: the key may not use the model, or the key may use no provider that serves it. */
const NOT_ALLOWED: Unmet = {
  requirement: 'permission',
  isFirm: true,
  detail: 'is not allowed for this API key',
}
const NOT_SERVED: Unmet = {
  requirement: 'permission',
  isFirm: true,
  detail: 'is served by providers that this API key may not use',
}

/** Redis has only the intersection of the lists of key, member and account. So the message can't say which list excludes the model. */
const WHERE_FROM =
  'The key’s own list, or the rules for all keys of its member or its account, leave it out: GET /v1/key says what they allow together.'

/** The reason why the key may not use `model`; undefined if it may. */
export function forbids({ allowedModels, allowedProviders }: Permitted, model: Model): Unmet | undefined {
  if (allowedModels && !allowedModels.includes(model.id)) return NOT_ALLOWED
  if (allowedProviders && permittedTargets(allowedProviders, model).length === 0) return NOT_SERVED
  return undefined
}

/** The targets of `model` whose providers may answer. */
export function permittedTargets(allowedProviders: Ids, model: Model): Target[] {
  return allowedProviders
    ? model.targets.filter(({ provider }) => allowedProviders.includes(provider.name))
    : model.targets
}

/** Throws `forbidden` for `param` if the key may not use the model (`model_not_allowed`) or its providers (`provider_not_allowed`). */
export function checkAllowed(permitted: Permitted, named: Model | Tier, param: string): void {
  if (permitted.allowedModels || permitted.allowedProviders) checkListed(permitted, named, param)
}

function checkListed(permitted: Permitted, named: Model | Tier, param: string): void {
  const isTier = 'candidates' in named
  const models = isTier ? named.candidates : [named]
  const obstacles = models.map((model) => forbids(permitted, model))
  if (obstacles.includes(undefined)) return
  if (obstacles.includes(NOT_SERVED)) throw notServed(named, param)
  const message = isTier
    ? `This API key may not call any of the models that '${named.id}' chooses from.`
    : `This API key may not call the model '${named.id}'.`
  throw new GatewayError('forbidden', `${message} ${WHERE_FROM}`, { param, code: 'model_not_allowed' })
}

function notServed(named: Model | Tier, param: string): GatewayError {
  const message =
    'candidates' in named
      ? `No model that '${named.id}' chooses from is served by a provider that this API key may use.`
      : `The model '${named.id}' is served by ${providersOf(named)}, and this API key may use other providers only.`
  return new GatewayError('forbidden', `${message} ${WHERE_FROM}`, { param, code: 'provider_not_allowed' })
}

function providersOf({ targets }: Model): string {
  return [...new Set(targets.map(({ provider }) => provider.name))].slice(0, MAX_NAMED).join(', ')
}
