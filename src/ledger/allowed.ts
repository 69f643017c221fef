/** A key's permission after all its rules: models, providers and data rules, as text in Redis. Equal permissions give equal texts. */
import type { DataRule } from '@/chat/preferences'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonValue, parseJson } from '@/lib/json'

/** Ids of models, or names of providers; null = all. */
type AllowedIds = readonly string[] | null

/** `dataRules`: the rules of account, member and key for where content may go; undefined if there are none. */
export type Allowed = {
  allowedModels: AllowedIds
  allowedProviders: AllowedIds
  dataRules?: readonly DataRule[] | undefined
}

/** A key without restrictions. */
export const EVERYTHING: Allowed = { allowedModels: null, allowedProviders: null }

/** The permission of a key, without the key's other properties. */
export function permissionOf({ allowedModels, allowedProviders, dataRules }: Allowed): Allowed {
  return { allowedModels, allowedProviders, dataRules }
}

/** The permission that two permissions have in common: models and providers of both, under the rules of both. */
export function narrower(one: Allowed, other: Allowed): Allowed {
  const dataRules = [...(one.dataRules ?? []), ...(other.dataRules ?? [])]
  return {
    allowedModels: inBoth(one.allowedModels, other.allowedModels),
    allowedProviders: inBoth(one.allowedProviders, other.allowedProviders),
    ...(dataRules.length > 0 && { dataRules }),
  }
}

function inBoth(one: AllowedIds, other: AllowedIds): AllowedIds {
  if (one === null || other === null) return one ?? other
  return other.filter((id) => one.includes(id))
}

/** The empty text without restrictions; a sorted JSON array if only models are restricted; otherwise a JSON object. */
export function allowedText({ allowedModels, allowedProviders, dataRules }: Partial<Allowed>): string {
  const models = allowedModels ? inOrder(allowedModels) : null
  const providers = allowedProviders ? inOrder(allowedProviders) : undefined
  if (providers || dataRules) return JSON.stringify({ models, providers, data: dataRules })
  return models === null ? '' : JSON.stringify(models)
}

/** Parses {@link allowedText}. */
export function parseAllowed(text: string): Allowed {
  if (text === '') return EVERYTHING
  const read = parseJson(text)
  if (!isJsonObject(read)) return { allowedModels: listOf(read), allowedProviders: null }
  const { models, providers, data } = read
  return {
    allowedModels: models === null ? null : listOf(models),
    allowedProviders: providers === undefined ? null : listOf(providers),
    ...(data !== undefined && { dataRules: rulesIn(data) }),
  }
}

function rulesIn(data: JsonValue): readonly DataRule[] {
  assert(Array.isArray(data) && data.every(isJsonObject), 'the store holds no list of rules of where content may go')
  return data as DataRule[]
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
