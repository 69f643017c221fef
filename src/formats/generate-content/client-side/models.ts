/** Models and tiers as generate-content clients list them. */
import { Type } from '@sinclair/typebox'
import type { ListedModel, ModelListing } from '@/formats/format'
import type { JsonObject } from '@/lib/json'
import { CHAT_VERBS, EMBEDDING_VERBS } from './path'

export const modelListing: ModelListing = {
  field: 'models',
  entrySchema: Type.Object({ name: Type.String(), displayName: Type.String() }),
  encodeModel,
}

/** One entry; its `name` is the resource `models/{id}`, slash and all. */
function encodeModel({ id, kind, name, contextLength, maxOutputTokens }: ListedModel): JsonObject {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: '1',
    displayName: name,
    inputTokenLimit: contextLength,
    ...(maxOutputTokens !== undefined && { outputTokenLimit: maxOutputTokens }),
    supportedGenerationMethods: [...(kind === 'embedding' ? EMBEDDING_VERBS : CHAT_VERBS)],
  }
}
