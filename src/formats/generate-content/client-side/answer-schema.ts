/** Schemas that document answers for generate-content clients: an answer (a stream consists of many) and an error. */

import { Type } from '@sinclair/typebox'
import { costFields } from '@/formats/cost-fields'
import { COST_PLACE } from '@/formats/generate-content/usage'

const Count = Type.Optional(Type.Integer({ minimum: 0 }))

const Usage = Type.Object(
  {
    promptTokenCount: Type.Optional(Type.Integer({ minimum: 0, description: 'Input, cached tokens included' })),
    cachedContentTokenCount: Count,
    candidatesTokenCount: Type.Optional(Type.Integer({ minimum: 0, description: 'Output without thoughts' })),
    thoughtsTokenCount: Count,
    toolUsePromptTokenCount: Count,
    totalTokenCount: Count,
    ...costFields(COST_PLACE.parts),
  },
  { title: 'GenerateContentUsage', description: 'What is charged' },
)

const AnswerPart = Type.Object(
  {
    text: Type.Optional(Type.String()),
    thought: Type.Optional(Type.Boolean({ description: 'true marks the model’s reasoning' })),
    thoughtSignature: Type.Optional(Type.String({ description: 'base64; send it back unchanged' })),
    inlineData: Type.Optional(Type.Object({ mimeType: Type.String(), data: Type.String({ description: 'base64' }) })),
    functionCall: Type.Optional(
      Type.Object({
        id: Type.Optional(Type.String()),
        name: Type.String(),
        args: Type.Optional(Type.Object({}, { additionalProperties: true })),
      }),
    ),
  },
  { title: 'GenerateContentAnswerPart', additionalProperties: true },
)

const Candidate = Type.Object({
  content: Type.Optional(
    Type.Object({ role: Type.Optional(Type.String()), parts: Type.Optional(Type.Array(AnswerPart)) }),
  ),
  finishReason: Type.Optional(
    Type.String({ description: 'STOP, MAX_TOKENS, SAFETY, MALFORMED_FUNCTION_CALL and others' }),
  ),
  index: Type.Optional(Type.Integer()),
})

export const AnswerSchema = Type.Object(
  {
    candidates: Type.Optional(Type.Array(Candidate)),
    usageMetadata: Type.Optional(Usage),
    modelVersion: Type.Optional(Type.String({ description: 'The model that answered' })),
    responseId: Type.Optional(Type.String()),
  },
  { title: 'GenerateContentAnswer' },
)

export const ErrorSchema = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer({ description: 'The HTTP status' }),
      message: Type.String(),
      status: Type.String({ description: 'INVALID_ARGUMENT, UNAUTHENTICATED, RESOURCE_EXHAUSTED and others' }),
      details: Type.Optional(
        Type.Array(Type.Object({ '@type': Type.String() }, { additionalProperties: true }), {
          description: 'The reason (ErrorInfo), the field at fault (BadRequest), the wait (RetryInfo), the request',
        }),
      ),
    }),
  },
  { title: 'GenerateContentError' },
)

export const EventSchema = Type.Union([AnswerSchema, ErrorSchema], {
  title: 'GenerateContentEvent',
  description: 'One piece of a streamed answer. The last one has the finish reason and the usage, or is an error.',
})

export const CountSchema = Type.Object(
  { totalTokens: Type.Integer({ minimum: 0 }) },
  { title: 'GenerateContentTokenCount', additionalProperties: true },
)
