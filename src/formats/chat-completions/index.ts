/** The chat-completions format (family 1, OpenAI style), and what its endpoints need beside the common contract. */
import { decodeRequest } from '@/formats/chat-completions/client-side/decode-request'
import { encodeError } from '@/formats/chat-completions/client-side/encode-error'
import { encodeResponse } from '@/formats/chat-completions/client-side/encode-response'
import { createStreamEncoder } from '@/formats/chat-completions/client-side/encode-stream'
import { recognition } from '@/formats/chat-completions/client-side/recognition'
import { ChatCompletionsRequest } from '@/formats/chat-completions/client-side/wire'
import { decodeError } from '@/formats/chat-completions/provider-side/decode-error'
import { decodeResponse } from '@/formats/chat-completions/provider-side/decode-response'
import { createStreamDecoder } from '@/formats/chat-completions/provider-side/decode-stream'
import { encodeRequest } from '@/formats/chat-completions/provider-side/encode-request'
import { endpoint } from '@/formats/chat-completions/provider-side/endpoint'
import type { Format } from '@/formats/format'
import { commonRateLimitHeaders } from '@/formats/rate-limit-headers'
import { framing } from './framing'
import { passThrough } from './pass-through'
import { decodeUsage } from './usage'

export const chatCompletions = {
  name: 'chat-completions',
  requestSchema: ChatCompletionsRequest,
  recognition,
  endpoint,
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
  decodeUsage,
  passThrough,
  framing,
} satisfies Format
