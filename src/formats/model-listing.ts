/** How a format's own list of models tells each, for clients that read one beside the common list. */
import type { TSchema } from '@sinclair/typebox'
import type { JsonObject } from '@/lib/json'

/** A model or tier as a list tells it. Limits are in tokens; a tier states no output limit of its own, and no kind: it chats. */
export type ListedModel = {
  id: string
  kind?: 'chat' | 'embedding'
  name: string
  contextLength: number
  maxOutputTokens?: number
}

/** The list of models, for clients that read one of the format's own beside the common one. */
export type ModelListing = {
  /** The field that holds the entries. */
  field: string
  entrySchema: TSchema
  encodeModel(sold: ListedModel): JsonObject
}
