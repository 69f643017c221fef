/** The bodies of `:embedContent` and `:batchEmbedContents` as schemas, which both check requests and document them. */
import { type Static, Type } from '@sinclair/typebox'
import { LIMITS } from '@/formats/generate-content/limits'
import { preferencesSchema } from '@/formats/preferences'

const { requests, dimensions } = LIMITS.embeddings

const Content = Type.Object(
  {
    role: Type.Optional(Type.String()),
    parts: Type.Array(Type.Object({ text: Type.String({ minLength: 1 }) }, { additionalProperties: false }), {
      minItems: 1,
      maxItems: LIMITS.parts.maxItems,
      description: 'Texts; all of them together become one vector',
    }),
  },
  { additionalProperties: false },
)

const EMBED_FIELDS = {
  model: Type.Optional(Type.String({ description: 'models/{model} of the path, if anything' })),
  content: Content,
  taskType: Type.Optional(Type.String({ description: 'Heard by providers of this format only' })),
  title: Type.Optional(Type.String({ description: 'Heard by providers of this format only' })),
  outputDimensionality: Type.Optional(Type.Integer(dimensions)),
  autoTruncate: Type.Optional(Type.Boolean({ description: 'Heard by providers of this format only' })),
}
const Content1 = { content: { parts: [{ text: 'The quick brown fox' }] } }
const Preferences = Type.Optional(preferencesSchema('maxPrice'))

export const EmbedContentRequest = Type.Object({ ...EMBED_FIELDS, svc: Preferences }, { examples: [Content1] })
export const BatchEmbedContentsRequest = Type.Object(
  { requests: Type.Array(Type.Object(EMBED_FIELDS), requests), svc: Preferences },
  { examples: [{ requests: [Content1] }] },
)
export type WireEmbedRequest = Static<typeof EmbedContentRequest>

const Vector = Type.Object({ values: Type.Array(Type.Number()) })
const UsageMetadata = Type.Object({ promptTokenCount: Type.Integer(), totalTokenCount: Type.Integer() })
const Vector1 = { values: [0.0123, -0.0456] }
const Usage1 = { promptTokenCount: 4, totalTokenCount: 4 }

export const EmbedContentResponse = Type.Object(
  { embedding: Vector, usageMetadata: UsageMetadata },
  { examples: [{ embedding: Vector1, usageMetadata: Usage1 }] },
)
export const BatchEmbedContentsResponse = Type.Object(
  {
    embeddings: Type.Array(Vector, { description: 'One for each request, in their order' }),
    usageMetadata: UsageMetadata,
  },
  { examples: [{ embeddings: [Vector1], usageMetadata: Usage1 }] },
)
