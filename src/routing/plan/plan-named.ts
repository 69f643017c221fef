/** Plans requests that only the named model may answer: embeddings, speech, transcriptions, pictures, ranked documents. */
import type { InputSizes } from '@/catalog/embedding-size'
import type { Catalog, Model, ModelKind, Target } from '@/catalog/types'
import type { RoutePreferences } from '@/chat/preferences'
import { refuseByData } from './data-rules'
import { findModelOrTier, type Plan } from './plan'
import { arrangeTargets, checkProviderNames, isOrdered, isWanted, noneWanted, tooDear } from './preferences'
import { checkAllowed, checkKind, noneCanServe, type Permitted } from './refusal'
import type { Unmet } from './requirements'
import { BLIND_VIEW, type RouteView } from './route-view'

export type NamedPlan = Plan & { model: Model; sizes: InputSizes }

export type NamedPlanOptions = Permitted & { view?: RouteView }

type Named = {
  model: Model
  /** The model's targets that the key may use and that can answer. */
  able: readonly Target[]
  sizes: InputSizes
  preferences: RoutePreferences | undefined
  requested: string
  stream: boolean
}

/** The named model. Throws `model_not_found`, `forbidden`, and `wrong_endpoint` for a model of another kind. */
export function findNamed(catalog: Catalog, name: string, kind: ModelKind, permitted: Permitted): Model {
  const found = findModelOrTier(catalog, name, 'model')
  checkAllowed(permitted, found, 'model')
  checkKind(catalog, found, kind, 'model')
  return found as Model
}

/** The plan of one model's targets. Throws `invalid_request` if the caller's preferences leave none. */
export function planNamed(catalog: Catalog, named: Named, { view = BLIND_VIEW }: NamedPlanOptions): NamedPlan {
  const { model, sizes, preferences, requested } = named
  const targets = wantedTargets(catalog, named, view).map((target) => ({ model, target }))
  const usable = targets.filter(({ target }) => view.isUsable(target))
  return {
    model,
    sizes,
    targets: [...usable, ...targets.filter((planned) => !usable.includes(planned))],
    models: [model],
    requested,
    requestedId: model.id,
    passedOver: [],
    choice: undefined,
    requirements: { capabilities: new Set(), prompt: sizes, inputTokens: sizes.estimatedTokens, outputTokens: 0 },
    hasOwnFallback: false,
    isWished: isOrdered(preferences),
    data: preferences?.data,
  }
}

function wantedTargets(
  catalog: Catalog,
  { able, model, preferences, sizes, stream }: Named,
  view: RouteView,
): readonly Target[] {
  if (!preferences) return able
  checkProviderNames(catalog, preferences)
  const wanted = able.filter((target) => isWanted(target, preferences))
  const unmet: Unmet[] = wanted.length === 0 ? [noneWanted(able, preferences)] : []
  const dear = tooDear(model, preferences, sizes.estimatedTokens)
  if (dear) unmet.push(dear)
  refuseByData(unmet.length > 0 ? [{ model, unmet }] : [])
  if (unmet.length > 0) throw noneCanServe([{ model, unmet }])
  return arrangeTargets(wanted, { preferences, view, stream })
}
