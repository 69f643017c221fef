/** The body of `POST /v1/embeddings` as a schema, which checks all of it but the inputs and documents the whole. */
import { Type } from '@sinclair/typebox'
import { MAX_EMBEDDING_TOKENS } from '@/chat/embedding'
import { LIMITS } from '@/formats/chat-completions/limits'
import { preferencesSchema } from '@/formats/preferences'
import { oneOf, optional } from '@/lib/schemas'

const { inputs, dimensions } = LIMITS.embeddings
const Text = Type.String({ minLength: 1 })
const Tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 })

const OTHER_FIELDS = {
  dimensions: optional(Type.Integer(dimensions)),
  encoding_format: optional(oneOf(['float', 'base64'])),
  user: optional(Type.String()),
  svc: optional(preferencesSchema()),
}
const Model = Type.String({ ...LIMITS.modelChars, examples: ['svc/alpha-embed-small'] })

/** What is checked by schema; the inputs are millions of values at worst, and read one by one. */
export const EmbeddingsEnvelope = Type.Object({ model: Model, input: Type.Unknown(), ...OTHER_FIELDS })

export const EmbeddingsRequest = Type.Object(
  {
    model: Model,
    input: Type.Union([Text, Type.Array(Text, inputs), Tokens, Type.Array(Tokens, inputs)], {
      description: `A text, a list of texts, a text as tokens, or a list of such; at most ${MAX_EMBEDDING_TOKENS} tokens in all`,
    }),
    ...OTHER_FIELDS,
  },
  { examples: [{ model: 'svc/alpha-embed-small', input: ['The quick brown fox', 'jumps over the lazy dog'] }] },
)

export const EmbeddingsResponse = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer(),
        embedding: Type.Union([
          Type.Array(Type.Number()),
          Type.String({ description: 'base64 of little-endian 32-bit floats' }),
        ]),
      }),
      { description: 'One for each input, in their order' },
    ),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  },
  {
    examples: [
      {
        object: 'list',
        data: [
          { object: 'embedding', index: 0, embedding: [0.0123, -0.0456] },
          { object: 'embedding', index: 1, embedding: [0.0789, 0.0012] },
        ],
        model: 'svc/alpha-embed-small',
        usage: { prompt_tokens: 9, total_tokens: 9 },
      },
    ],
  },
)
