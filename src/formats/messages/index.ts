/** The messages format (family 2, Anthropic style), with functions that only its own endpoints need. */
import type { Format } from '@/formats/format'
import { AnswerSchema, ErrorSchema, EventSchema } from '@/formats/messages/client-side/answer-schema'
import { decodeRequest, recognition } from '@/formats/messages/client-side/decode-request'
import { encodeError, REQUEST_ID_HEADER } from '@/formats/messages/client-side/encode-error'
import { encodeResponse } from '@/formats/messages/client-side/encode-response'
import { createStreamEncoder } from '@/formats/messages/client-side/encode-stream'
import { rateLimitHeaders } from '@/formats/messages/client-side/rate-limit-headers'
import { readProtocol } from '@/formats/messages/client-side/read-protocol'
import { MessagesRequest } from '@/formats/messages/client-side/wire'
import { decodeError } from '@/formats/messages/provider-side/decode-error'
import { decodeResponse } from '@/formats/messages/provider-side/decode-response'
import { createStreamDecoder } from '@/formats/messages/provider-side/decode-stream'
import { encodeRequest } from '@/formats/messages/provider-side/encode-request'
import { requestFields } from './body-fields'
import { framing } from './framing'
import { TOOL_NAMES } from './limits'
import { passThrough } from './pass-through'
import { endpoint } from './provider'
import { withoutProofs } from './restore-signatures'
import { SERVER_TOOLS } from './server-tools'
import { COST_PLACE, decodeUsage } from './usage'

export { CountSchema } from '@/formats/messages/client-side/answer-schema'
export { decodeCountTokens, encodeCountTokens } from '@/formats/messages/client-side/decode-request'
export { CountTokensRequest } from '@/formats/messages/client-side/wire'

export const messages = {
  name: 'messages',
  requestSchema: MessagesRequest,
  answerSchema: AnswerSchema,
  eventSchema: EventSchema,
  errorSchema: ErrorSchema,
  recognition,
  endpoint,
  toolNames: TOOL_NAMES,
  requestIdHeader: REQUEST_ID_HEADER,
  requestFields,
  serverTools: SERVER_TOOLS,
  decodeRequest,
  decodeLoneBody: decodeRequest,
  readProtocol,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  encodeError,
  rateLimitHeaders,
  decodeError,
  decodeUsage,
  withoutProofs,
  costPlace: COST_PLACE,
  passThrough,
  framing,
} satisfies Format
