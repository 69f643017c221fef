/** The models and providers that a key may use, as text in Redis. Equal permissions have equal texts, so texts can be compared. */
import { assert } from '@/lib/assert'
import { isJsonObject, parseJson } from '@/lib/json'

/** Ids of models, or names of providers; null = all. */
type AllowedIds = readonly string[] | null

export type Allowed = { allowedModels: AllowedIds; allowedProviders: AllowedIds }

/** A key without restrictions. */
export const EVERYTHING: Allowed = { allowedModels: null, allowedProviders: null }

/** A copy of both lists. */
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

/** The empty text for no restriction; else a sorted JSON array of models, or an object if providers are restricted too. */
export function allowedText({ allowedModels, allowedProviders }: Partial<Allowed>): string {
  const models = allowedModels ? inOrder(allowedModels) : null
  if (allowedProviders) return JSON.stringify({ models, providers: inOrder(allowedProviders) })
  return models === null ? '' : JSON.stringify(models)
}

/** Parses {@link allowedText}. */
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
