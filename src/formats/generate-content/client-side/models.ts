/** Models and tiers as this format lists them. */
import type { JsonObject } from '@/lib/json'
import { VERBS } from './path'

/** What the list says of a model or tier. Limits are in tokens; a tier states no output limit of its own. */
type ListedModel = { id: string; name: string; contextLength: number; maxOutputTokens?: number }

/** One entry; its `name` is the resource `models/{id}`, slash and all. */
export function encodeModel({ id, name, contextLength, maxOutputTokens }: ListedModel): JsonObject {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: '1',
    displayName: name,
    inputTokenLimit: contextLength,
    ...(maxOutputTokens !== undefined && { outputTokenLimit: maxOutputTokens }),
    supportedGenerationMethods: [...VERBS],
  }
}
