/** Applies a caller's routing preferences: which models and targets they exclude, and the order of the others. */
import { listOfTier, pricesFor } from '@/catalog/price'
import type { Catalog, Model, Target } from '@/catalog/types'
import { invalidRequest } from '@/chat/error'
import type { RoutePreferences } from '@/chat/preferences'
import { formatPrice } from '@/lib/money'
import { brokenRules, obeys } from './data-rules'
import type { Unmet } from './requirements'
import type { RouteView } from './route-view'
import type { Ranked } from './score'

type Judged = {
  preferences: RoutePreferences
  targetsOf: (model: Model) => readonly Target[]
  view: RouteView
  stream: boolean
}

/** Our estimate of the input may be too low by this factor. So prices are those for an input longer by this factor. */
const ESTIMATE_TOLERANCE = 1.25
/** Maximum providers that one error message names. */
const MAX_NAMED = 8

/** Throws `invalid_request` for names of providers that do not exist. */
export function checkProviderNames({ providers }: Catalog, preferences: RoutePreferences): void {
  for (const list of ['order', 'only', 'ignore'] as const) {
    const unknown = preferences[list].filter((name) => !providers.has(name))
    if (unknown.length === 0) continue
    const field = `${preferences.spelling ?? 'svc.providers'}.${list}`
    const named = unknown.slice(0, MAX_NAMED).join(', ')
    const known = [...providers.keys()].slice(0, MAX_NAMED).join(', ')
    throw invalidRequest(`${field} names providers that do not exist: ${named}. There are ${known}`, field)
  }
}

/** Whether the caller's preferences allow `target` to answer. */
export function isWanted(target: Target, preferences: RoutePreferences): boolean {
  return isNamed(target, preferences) && (preferences.data === undefined || obeys(target, preferences.data))
}

function isNamed({ provider }: Target, { only, ignore }: RoutePreferences): boolean {
  return (only.length === 0 || only.includes(provider.name)) && !ignore.includes(provider.name)
}

/** Whether the preferences order the targets of a model. */
export function isOrdered(preferences: RoutePreferences | undefined): boolean {
  return preferences !== undefined && (preferences.order.length > 0 || preferences.sort !== undefined)
}

/** The reason why the preferences exclude all of `targets`. */
export function noneWanted(targets: readonly Target[], preferences?: RoutePreferences): Unmet {
  if (preferences?.data && targets.some((target) => isNamed(target, preferences)))
    return brokenRules(preferences.data, targets)
  const names = [...new Set(targets.map(({ provider }) => provider.name))].slice(0, MAX_NAMED)
  return {
    requirement: 'providers',
    isFirm: true,
    detail: `is served by ${names.join(', ')}, which svc.providers leaves out`,
  }
}

/** The reason why `model` is too expensive for a request of about `inputTokens` in a service tier; undefined if it is not. */
export function tooDear(
  model: Model,
  { maxPrice }: RoutePreferences,
  inputTokens: number,
  serviceTier?: string,
): Unmet | undefined {
  if (!maxPrice) return undefined
  const list = listOfTier(model.pricing, serviceTier) ?? model.pricing
  const prices = pricesFor(list, inputTokens * ESTIMATE_TOLERANCE)
  for (const kind of ['input', 'output'] as const) {
    const most = maxPrice[kind]
    if (most === undefined || prices[kind] <= most) continue
    const detail = `costs ${formatPrice(prices[kind])} USD per 1M ${kind} tokens, above svc.max_price ${formatPrice(most)}`
    return { requirement: 'max-price', isFirm: true, detail }
  }
  return undefined
}

/** The reason why the quality of `model` is too low; undefined if it is not. A model without a stated quality has 0. */
export function tooWeak({ quality }: Model, { quality: least = 0 }: RoutePreferences): Unmet | undefined {
  if ((quality ?? 0) >= least) return undefined
  const has = quality === undefined ? 'has no stated quality' : `has quality ${quality}`
  return { requirement: 'quality', isFirm: true, detail: `${has}, below the ${least} asked for` }
}

/** The targets of a model in the requested order. */
export function arrangeTargets(targets: readonly Target[], judged: Omit<Judged, 'targetsOf'>): Target[] {
  const { preferences } = judged
  const slowness = new Map(targets.map((target) => [target, slownessOf(target, judged)]))
  return targets.toSorted((one, other) => {
    const place = placeOf(preferences, one) - placeOf(preferences, other)
    return place || (slowness.get(one) ?? 0) - (slowness.get(other) ?? 0)
  })
}

/** A tier's candidates in the requested order, else as ranked. `isBelow`: none has the requested quality, so the best comes first. */
export function arrangeCandidates(ranking: readonly Ranked[], judged: Judged, isBelow: boolean): Ranked[] {
  const keys = new Map(ranking.map((ranked) => [ranked, sortKey(ranked, judged, isBelow)]))
  return ranking.toSorted((one, other) => {
    const place = placeOfModel(one.model, judged) - placeOfModel(other.model, judged)
    return place || (keys.get(one) ?? 0) - (keys.get(other) ?? 0)
  })
}

/** Whether a conversation may keep `model` although the preferences put `first` first. */
export function mayStay(model: Model, first: Model, judged: Judged, isBelow: boolean): boolean {
  if (isBelow || judged.preferences.sort !== undefined) return false
  return placeOfModel(model, judged) <= placeOfModel(first, judged)
}

function sortKey({ model, estimatedCost }: Ranked, judged: Judged, isBelow: boolean): number {
  if (isBelow) return -(model.quality ?? 0)
  if (judged.preferences.sort === 'price') return estimatedCost
  return Math.min(...judged.targetsOf(model).map((target) => slownessOf(target, judged)))
}

/** The number to sort targets by: higher is worse, and unknown is worst. Price is missing, since all targets of a model have one price. */
function slownessOf(target: Target, { preferences, view, stream }: Omit<Judged, 'targetsOf'>): number {
  switch (preferences.sort) {
    case 'latency':
      return view.latencyMs(target, stream) ?? Number.MAX_VALUE
    case 'throughput':
      return -(view.throughput(target) ?? 0)
    default:
      return 0
  }
}

function placeOfModel(model: Model, { preferences, targetsOf }: Judged): number {
  if (preferences.order.length === 0) return 0
  return Math.min(...targetsOf(model).map((target) => placeOf(preferences, target)))
}

/** The provider's place in the caller's order. Unnamed providers come last. */
function placeOf({ order }: RoutePreferences, { provider }: Target): number {
  const place = order.indexOf(provider.name)
  return place === -1 ? order.length : place
}
