/** The messages format (family 2), put together. */
import type { Format } from '@/formats/format'
import { decodeRequest } from './decode-request'
import { decodeResponse } from './decode-response'
import { createStreamDecoder } from './decode-stream'
import { encodeRequest } from './encode-request'
import { encodeResponse } from './encode-response'
import { createStreamEncoder, framing } from './encode-stream'
import { decodeError, encodeError } from './error'
import { passThrough } from './pass-through'
import { decodeUsage } from './usage'

export { decodeCountRequest } from './decode-request'
export { CountTokensRequest, MessagesRequest } from './wire'
export { ErrorAnswer, MessageAnswer, TokenCount } from './wire-answer'
export { LIMITS } from './wire-blocks'

export const messages = {
  name: 'messages',
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  encodeError,
  decodeError,
  decodeUsage,
  passThrough,
  framing,
} satisfies Format
