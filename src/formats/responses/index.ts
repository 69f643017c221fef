/** The responses format (family 4, OpenAI's Responses), with functions that only its own endpoints need. */
import type { Format } from '@/formats/format'
import { commonRateLimitHeaders } from '@/formats/rate-limit-headers'
import { AnswerSchema, ErrorSchema, EventSchema } from '@/formats/responses/client-side/answer-schema'
import { decodeRequest, recognition } from '@/formats/responses/client-side/decode-request'
import { encodeError } from '@/formats/responses/client-side/encode-error'
import { encodeResponse } from '@/formats/responses/client-side/encode-response'
import { createStreamEncoder } from '@/formats/responses/client-side/encode-stream'
import { keptItems } from '@/formats/responses/client-side/stored/kept-items'
import { ResponsesRequest } from '@/formats/responses/client-side/wire'
import { decodeError } from '@/formats/responses/provider-side/decode-error'
import { decodeResponse } from '@/formats/responses/provider-side/decode-response'
import { createStreamDecoder } from '@/formats/responses/provider-side/decode-stream'
import { encodeRequest } from '@/formats/responses/provider-side/encode-request'
import { requestFields } from './body-fields'
import { framing } from './framing'
import { TOOL_NAMES } from './limits'
import { passThrough } from './pass-through'
import { endpoint } from './provider'
import { withoutProofs } from './restore-signatures'
import { SERVER_TOOLS } from './server-tools'
import { COST_PLACE, decodeUsage } from './usage'

export { CountSchema } from '@/formats/responses/client-side/answer-schema'
export { decodeRequest as decodeCountTokens, encodeCountTokens } from '@/formats/responses/client-side/decode-request'

export const responses = {
  name: 'responses',
  requestSchema: ResponsesRequest,
  answerSchema: AnswerSchema,
  eventSchema: EventSchema,
  errorSchema: ErrorSchema,
  keptItems,
  recognition,
  endpoint,
  toolNames: TOOL_NAMES,
  requestFields,
  serverTools: SERVER_TOOLS,
  decodeRequest,
  decodeLoneBody: decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  encodeError,
  rateLimitHeaders: commonRateLimitHeaders,
  decodeError,
  withoutProofs,
  decodeUsage,
  costPlace: COST_PLACE,
  passThrough,
  framing,
} satisfies Format
