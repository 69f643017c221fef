/** The chat-completions format (family 1) as the gateway sees it. */
import type { Format } from '@/formats/format'
import { formatSse } from '@/lib/sse'
import { decodeRequest } from './decode-request'
import { decodeResponse } from './decode-response'
import { createStreamDecoder } from './decode-stream'
import { encodeRequest } from './encode-request'
import { encodeResponse } from './encode-response'
import { createStreamEncoder } from './encode-stream'
import { decodeError, encodeError } from './error'
import { passThrough } from './pass-through'
import { decodeUsage } from './usage'

export const chatCompletions = {
  name: 'chat-completions',
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
  framing: {
    contentType: 'text/event-stream; charset=utf-8',
    open: '',
    close: '',
    format: formatSse,
    keepAlive: ': keepalive\n\n',
  },
} satisfies Format
