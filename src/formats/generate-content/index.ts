/** The generate-content format (family 3, Gemini style), with functions that only its own endpoints need. */

import type { Format } from '@/formats/format'
import { AnswerSchema, ErrorSchema, EventSchema } from '@/formats/generate-content/client-side/answer-schema'
import { decodeLoneBody, decodeRequest, recognition } from '@/formats/generate-content/client-side/decode-request'
import { encodeEmbeddings } from '@/formats/generate-content/client-side/embeddings'
import { encodeError } from '@/formats/generate-content/client-side/encode-error'
import { encodeResponse } from '@/formats/generate-content/client-side/encode-response'
import { createStreamEncoder } from '@/formats/generate-content/client-side/encode-stream'
import { modelListing } from '@/formats/generate-content/client-side/models'
import { GenerateContentRequest } from '@/formats/generate-content/client-side/wire'
import { decodeError } from '@/formats/generate-content/provider-side/decode-error'
import { decodeResponse } from '@/formats/generate-content/provider-side/decode-response'
import { createStreamDecoder } from '@/formats/generate-content/provider-side/decode-stream'
import {
  askedEncoding,
  decodeEmbeddingsResponse,
  encodeEmbeddingsRequest,
  MAX_INPUTS,
} from '@/formats/generate-content/provider-side/embeddings'
import { encodeRequest } from '@/formats/generate-content/provider-side/encode-request'
import { picturesCall } from '@/formats/generate-content/provider-side/pictures'
import { grownBytes } from '@/formats/generate-content/provider-side/schema-budget'
import { commonRateLimitHeaders } from '@/formats/rate-limit-headers'
import { requestFields } from './body-fields'
import { framing } from './framing'
import { TOOL_NAMES } from './limits'
import { passThrough } from './pass-through'
import { endpoint, QUIRKS } from './provider'
import { withoutProofs } from './restore-signatures'
import { SERVER_TOOLS } from './server-tools'
import { COST_PLACE, decodeUsage } from './usage'

export { CountSchema } from '@/formats/generate-content/client-side/answer-schema'
export { decodeCountTokens, encodeCountTokens } from '@/formats/generate-content/client-side/decode-request'
export {
  BatchEmbedContentsRequest,
  BatchEmbedContentsResponse,
  decodeBatchEmbedContents,
  decodeEmbedContent,
  EmbedContentRequest,
  EmbedContentResponse,
} from '@/formats/generate-content/client-side/embeddings'
export { parseModelPath } from '@/formats/generate-content/client-side/models'
export { CountTokensRequest } from '@/formats/generate-content/client-side/wire'
export { jsonArrayFraming } from './framing'

export const generateContent = {
  name: 'generate-content',
  requestSchema: GenerateContentRequest,
  answerSchema: AnswerSchema,
  eventSchema: EventSchema,
  errorSchema: ErrorSchema,
  recognition,
  endpoint,
  toolNames: TOOL_NAMES,
  requestFields,
  serverTools: SERVER_TOOLS,
  modelListing,
  embeddings: {
    maxInputs: MAX_INPUTS,
    takesTokens: false,
    askedEncoding,
    encodeRequest: encodeEmbeddingsRequest,
    decodeResponse: decodeEmbeddingsResponse,
    encodeResponse: encodeEmbeddings,
  },
  media: { image: picturesCall },
  decodeRequest,
  decodeLoneBody,
  encodeRequest,
  grownSchemas: (bytes, quirks) => (quirks.has(QUIRKS.openApiSchema) ? grownBytes(bytes) : 0),
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  encodeError,
  rateLimitHeaders: commonRateLimitHeaders,
  decodeError,
  decodeUsage,
  withoutProofs,
  costPlace: COST_PLACE,
  passThrough,
  framing,
} satisfies Format
