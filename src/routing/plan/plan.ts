/** Turns the named model or tier, and fallbacks, into a list of targets: all targets of one model, then those of the next. Pure. */
import { findSold } from '@/catalog/aliases'
import { refuseUnpriceable, takesTier } from '@/catalog/priceable'
import { takesTools } from '@/catalog/tool-allowance'
import type { Catalog, Model, Target, Tier } from '@/catalog/types'
import { GatewayError, invalidRequest } from '@/chat/error'
import { isCarried } from '@/chat/features'
import type { FormatName } from '@/chat/format-name'
import { type DataRule, NO_PREFERENCES, type RoutePreferences, type Sort } from '@/chat/preferences'
import type { ChatRequest } from '@/chat/request'
import { extraTier, serviceTierOf } from '@/chat/service-tier'
import { chooseModels, type TierChoice } from './choose'
import { refuseByData, underRules } from './data-rules'
import { arrangeTargets, checkProviderNames, isOrdered, isWanted, noneWanted, tooDear, tooWeak } from './preferences'
import {
  checkAllowed,
  checkKind,
  forbids,
  noneCanServe,
  type Permitted,
  permittedTargets,
  refuseUntakenTools,
} from './refusal'
import { type PassedOver, type Requirements, readRequirements, ruledOut, type Unmet } from './requirements'
import { BLIND_VIEW, type RouteView } from './route-view'

/** One upstream model that may answer, and the catalogue model it is sold as. */
export type PlannedTarget = { model: Model; target: Target }

export type Plan = {
  /** Never empty. Unavailable targets come last, in the same order among themselves. */
  targets: PlannedTarget[]
  /** Each model of `targets` once, in order of preference: the hold must cover the most expensive. */
  models: Model[]
  /** The caller's name of the model or tier: its id, or an alias. */
  requested: string
  requestedId: string
  passedOver: PassedOver[]
  /** The tier's choice, if the caller named a tier. */
  choice: TierChoice | undefined
  requirements: Requirements
  /** Whether the caller named fallback models. */
  hasOwnFallback: boolean
  isWished: boolean
  /** The rules of where content may go: of account, member, key and request. All targets obey them. Undefined if there are none. */
  data: readonly DataRule[] | undefined
}

export type PlanOptions = Permitted & {
  /** The caller's format. Requests with parts that can't be converted only go to targets of this format. */
  clientFormat?: FormatName
  view?: RouteView
  /** The conversation's previous model, for tiers. */
  stickyModelId?: string | undefined
}

/**
 * Builds the plan: the named model or the tier's choice, then the request's fallback list, or else the catalogue's. Throws
 * `model_not_found` for an unknown name in `model` or `fallback`, `forbidden` for a model that the key may not use, and `invalid_request`
 * (or `context_length_exceeded`, if that is the only reason) if no model can serve the request, with the reason for each.
 */
export function buildPlan(catalog: Catalog, asked: ChatRequest, options: PlanOptions = {}): Plan {
  const request = underRules(withSortOfName(catalog, asked), options.dataRules)
  const primary = findChat(catalog, request.model, 'model', options)
  const named = [primary, ...findFallbacks(catalog, primary, request, options)]
  if (request.preferences) checkProviderNames(catalog, request.preferences)
  const draft: Draft = {
    request,
    requirements: readRequirements(request),
    options,
    view: options.view ?? BLIND_VIEW,
    passedOver: [],
    isLenient: false,
    choice: undefined,
  }
  let models = resolve(draft, named)
  if (models.length === 0) {
    // No model meets all preferences, so each model that may succeed is tried.
    Object.assign(draft, { isLenient: true, passedOver: [], choice: undefined })
    models = resolve(draft, named)
  }
  if (models.length === 0) {
    refuseUntakenTools(catalog, request, options.clientFormat, draft.passedOver)
    // Content without a price is refused for any model.
    refuseUnpriceable(
      request,
      draft.passedOver.flatMap(({ model }) => model.targets),
    )
    refuseByData(draft.passedOver)
    throw noneCanServe(draft.passedOver, request.bound?.[0]?.field)
  }
  const { requirements, passedOver, choice, view } = draft
  const targets = order(draft, models, view)
  return {
    targets: request.preferences?.firstTargetOnly ? firstOfEach(targets) : targets,
    models,
    requested: request.model,
    requestedId: primary.id,
    passedOver,
    choice,
    requirements,
    hasOwnFallback: request.fallback.length > 0,
    isWished: isOrdered(request.preferences),
    data: request.preferences?.data,
  }
}

/** OpenRouter's suffixes of model names, and the sort orders they request. */
const SORT_OF_SUFFIX: ReadonlyMap<string, Sort> = new Map([
  [':nitro', 'throughput'],
  [':floor', 'price'],
])
const SUFFIX = /:[a-z]+$/

/** The model or tier with that name, with or without a suffix. Throws `model_not_found` for the field `param`. */
export function findModelOrTier(catalog: Catalog, id: string, param: string): Named {
  const found = findSold(catalog, id)
  if (found) return found
  const [suffix = ''] = SUFFIX.exec(id) ?? []
  const base = suffix === '' ? undefined : findSold(catalog, id.slice(0, -suffix.length))
  if (base && SORT_OF_SUFFIX.has(suffix)) return base
  if (base && suffix === ':online') throw noOnline(id, param)
  const message = `The model '${id.slice(0, 128)}' does not exist. GET /v1/models lists all models.`
  throw new GatewayError('model_not_found', message, { param, code: 'model_not_found' })
}

function noOnline(id: string, param: string): GatewayError {
  const message = `'${id.slice(0, 128)}': searching the web for any model (:online) is not offered here; send the name without it, or a search tool of the model's own format.`
  return invalidRequest(message, param)
}

/** The request with the sort order from its model name's suffix, unless the body sets one. */
function withSortOfName(catalog: Catalog, request: ChatRequest): ChatRequest {
  const { model, preferences = NO_PREFERENCES } = request
  if (preferences.sort !== undefined || findSold(catalog, model)) return request
  const sort = SORT_OF_SUFFIX.get(SUFFIX.exec(model)?.[0] ?? '')
  return sort ? { ...request, preferences: { ...preferences, sort } } : request
}

function firstOfEach(targets: readonly PlannedTarget[]): PlannedTarget[] {
  const seen = new Set<Model>()
  return targets.filter(({ model }) => !seen.has(model) && seen.add(model))
}

/** Maximum items that one error message names, so that callers can't make it long. */
const MAX_NAMED_PARTS = 5

type Named = Model | Tier

type Draft = {
  request: ChatRequest
  requirements: Requirements
  options: PlanOptions
  view: RouteView
  passedOver: PassedOver[]
  /** Whether a model is skipped only if it is certain to fail, and not for preferences. */
  isLenient: boolean
  choice: TierChoice | undefined
}

function findFallbacks(catalog: Catalog, primary: Named, request: ChatRequest, permitted: Permitted): Named[] {
  const { fallback, fallbackField = 'fallback' } = request
  if (fallback.length > 0) {
    return fallback.map((name, index) => findChat(catalog, name, `${fallbackField}[${index}]`, permitted))
  }
  if ('candidates' in primary) return []
  const named: Named[] = []
  // The caller did not name these models, so those that the key may not use are skipped silently.
  for (const id of primary.fallback) {
    const own = catalog.models.get(id)
    if (own && !forbids(permitted, own)) named.push(own)
  }
  return named
}

function findChat(catalog: Catalog, name: string, param: string, permitted: Permitted): Named {
  const found = findModelOrTier(catalog, name, param)
  checkAllowed(permitted, found, param)
  checkKind(catalog, found, 'chat', param)
  return found
}

/** The models that can serve, in order, each once; others are noted as skipped. */
function resolve(draft: Draft, named: readonly Named[]): Model[] {
  const models: Model[] = []
  for (const entry of named) {
    if ('candidates' in entry) {
      for (const model of fromTier(draft, entry, entry === named[0])) if (!models.includes(model)) models.push(model)
    } else if (!models.includes(entry) && canServe(draft, entry, true)) models.push(entry)
  }
  return models
}

function fromTier(draft: Draft, tier: Tier, isPrimary: boolean): Model[] {
  const able = tier.candidates.filter((model) => canServe(draft, model, false))
  if (able.length === 0) return []
  const { request, requirements, view, options } = draft
  const good = request.preferences ? goodEnough(draft, able) : able
  const isBelowQuality = good.length === 0
  const eligible = isBelowQuality ? able : good
  const stickyModelId = isPrimary ? options.stickyModelId : undefined
  const targetsOf = (model: Model) => wantedTargets(draft, model)
  const question = { tier, eligible, isBelowQuality, request, requirements, view, targetsOf, stickyModelId }
  const choice = chooseModels(question)
  if (isPrimary) draft.choice = choice
  return choice.models
}

/** The candidates with the required quality, or all candidates if none has it. */
function goodEnough({ request: { preferences }, passedOver }: Draft, able: readonly Model[]): readonly Model[] {
  if (!preferences?.quality) return able
  const good = able.filter((model) => !tooWeak(model, preferences))
  if (good.length === 0) return good
  for (const model of able) {
    const unmet = tooWeak(model, preferences)
    if (unmet) passedOver.push({ model, unmet: [unmet] })
  }
  return good
}

/** Whether a model can serve the request. If the caller named the model, it may lack the requested reasoning. */
function canServe(draft: Draft, model: Model, isNamed: boolean): boolean {
  const unmet: Unmet[] = []
  const obstacle = forbids(draft.options, model)
  if (obstacle) unmet.push(obstacle)
  for (const item of ruledOut(model, draft.requirements))
    if ((item.isFirm || !draft.isLenient) && !(isNamed && item.requirement === 'reasoning')) unmet.push(item)
  const usable = usableTargets(draft, model)
  if (usable.length === 0 && !obstacle) unmet.push(wrongTarget(draft, model))
  else if (usable.length > 0 && wantedTargets(draft, model).length === 0)
    unmet.push(noneWanted(usable, draft.request.preferences))
  const { preferences, serviceTier } = draft.request
  const dear = preferences && tooDear(model, preferences, draft.requirements.inputTokens, serviceTierOf(serviceTier))
  if (dear) unmet.push(dear)
  if (unmet.length === 0) return true
  passOver(draft, model, unmet)
  return false
}

function passOver({ passedOver }: Draft, model: Model, unmet: Unmet[]): void {
  if (!passedOver.some((item) => item.model === model)) passedOver.push({ model, unmet })
}

function wrongTarget({ request, options }: Draft, { targets }: Model): Unmet {
  const { nativeOnly = [], serverTools = [] } = request
  const tier = extraTier(request.serviceTier)
  if (tier !== undefined && !targets.some((target) => takesTier(target, tier)))
    return { requirement: 'service-tier', isFirm: true, detail: 'has no price for the service tier' }
  if (nativeOnly.length > 0 && targets.some(({ provider }) => provider.format === options.clientFormat)) {
    const names = serverTools.slice(0, MAX_NAMED_PARTS).map(({ name }) => name)
    return { requirement: 'server-tools', isFirm: true, detail: `has no price for ${names.join(', ')}` }
  }
  const parts = nativeOnly.slice(0, MAX_NAMED_PARTS).join(', ')
  if (parts === '') return lossless(request)
  return { requirement: 'format', isFirm: true, detail: `is served in another format, which cannot carry ${parts}` }
}

/** The reason to skip a model of another format: that format lacks fields that change the answer, and the caller has not allowed that. */
function lossless({ bound = [], stream }: ChatRequest): Unmet {
  const fields = bound.slice(0, MAX_NAMED_PARTS).map(({ field }) => field)
  const where =
    stream && bound.some(({ carriedBy }) => carriedBy.size > 0)
      ? 'another format, which in a stream'
      : 'another format, which'
  const detail = `is served in ${where} cannot carry ${fields.join(', ')} (svc.lossy answers without)`
  return { requirement: 'lossless', isFirm: true, detail }
}

function usableTargets({ request, options: { clientFormat, allowedProviders } }: Draft, model: Model): Target[] {
  const isBound = request.bound !== undefined && !request.preferences?.lossy
  const permitted = permittedTargets(allowedProviders, model)
  const tier = extraTier(request.serviceTier)
  const targets = tier === undefined ? permitted : permitted.filter((target) => takesTier(target, tier))
  return clientFormat && (request.nativeOnly?.length || isBound)
    ? carryingTargets(request, clientFormat, targets)
    : targets
}

function carryingTargets(request: ChatRequest, clientFormat: FormatName, targets: Target[]): Target[] {
  const { nativeOnly, serverTools = [], bound, preferences, stream } = request
  if (nativeOnly?.length) {
    return targets.filter((target) => target.provider.format === clientFormat && takesTools(target, serverTools))
  }
  if (!bound || preferences?.lossy) return targets
  return targets.filter(
    ({ provider: { format } }) => format === clientFormat || bound.every((field) => isCarried(field, format, stream)),
  )
}

/** The targets that the caller allows, in the requested order. */
function wantedTargets(draft: Draft, model: Model): Target[] {
  const targets = usableTargets(draft, model)
  const { preferences } = draft.request
  return preferences ? wishedTargets(draft, targets, preferences) : targets
}

function wishedTargets({ request: { stream }, view }: Draft, targets: Target[], preferences: RoutePreferences) {
  const wanted = targets.filter((target) => isWanted(target, preferences))
  return arrangeTargets(wanted, { preferences, view, stream })
}

function order(draft: Draft, models: readonly Model[], view: RouteView): PlannedTarget[] {
  const usable: PlannedTarget[] = []
  const others: PlannedTarget[] = []
  for (const model of models)
    for (const target of wantedTargets(draft, model)) (view.isUsable(target) ? usable : others).push({ model, target })
  return others.length === 0 ? usable : [...usable, ...others]
}
