/** The models and providers that a key may use, as text in the store. One permission has one text, so texts can be compared. */
import { assert } from '@/lib/assert'
import { isJsonObject, parseJson } from '@/lib/json'

/** Ids of models, or names of providers; null = every one. */
type AllowedIds = readonly string[] | null

/** The models that a key may call, and the providers that may answer it. */
export type Allowed = { allowedModels: AllowedIds; allowedProviders: AllowedIds }

/** A key without restrictions. */
export const EVERYTHING: Allowed = { allowedModels: null, allowedProviders: null }

/** Both lists alone, in copies of their own. */
export function bothLists({ allowedModels, allowedProviders }: Allowed) {
  return {
    allowedModels: allowedModels && [...allowedModels],
    allowedProviders: allowedProviders && [...allowedProviders],
  }
}

/** The models and providers that both permissions allow. */
export function narrower(one: Allowed, other: Allowed): Allowed {
  return {
    allowedModels: inBoth(one.allowedModels, other.allowedModels),
    allowedProviders: inBoth(one.allowedProviders, other.allowedProviders),
  }
}

function inBoth(one: AllowedIds, other: AllowedIds): AllowedIds {
  if (one === null || other === null) return one ?? other
  return other.filter((id) => one.includes(id))
}

/** The empty text for everything, else a JSON array of models in order, each once; where providers are named, an object of both. */
export function allowedText({ allowedModels, allowedProviders }: Partial<Allowed>): string {
  const models = allowedModels ? inOrder(allowedModels) : null
  if (allowedProviders) return JSON.stringify({ models, providers: inOrder(allowedProviders) })
  return models === null ? '' : JSON.stringify(models)
}

/** Reads {@link allowedText} back. */
export function parseAllowed(text: string): Allowed {
  if (text === '') return EVERYTHING
  const read = parseJson(text)
  if (!isJsonObject(read)) return { allowedModels: listOf(read), allowedProviders: null }
  return { allowedModels: read.models === null ? null : listOf(read.models), allowedProviders: listOf(read.providers) }
}

function inOrder(ids: readonly string[]): string[] {
  return [...new Set(ids)].sort()
}

function listOf(ids: unknown): readonly string[] {
  assert(
    Array.isArray(ids) && ids.every((id) => typeof id === 'string'),
    'the store holds no list of what a key may call',
  )
  return ids
}
