/** The generate-content format (family 3, Gemini style), and what its endpoints need beside the common contract. */
import type { Format } from '@/formats/format'
import { decodeLoneBody, decodeRequest } from '@/formats/generate-content/client-side/decode-request'
import { encodeError } from '@/formats/generate-content/client-side/encode-error'
import { encodeResponse } from '@/formats/generate-content/client-side/encode-response'
import { createStreamEncoder } from '@/formats/generate-content/client-side/encode-stream'
import { modelListing } from '@/formats/generate-content/client-side/models'
import { recognition } from '@/formats/generate-content/client-side/recognition'
import { GenerateContentRequest } from '@/formats/generate-content/client-side/wire'
import { decodeError } from '@/formats/generate-content/provider-side/decode-error'
import { decodeResponse } from '@/formats/generate-content/provider-side/decode-response'
import { createStreamDecoder } from '@/formats/generate-content/provider-side/decode-stream'
import { encodeRequest } from '@/formats/generate-content/provider-side/encode-request'
import { endpoint } from '@/formats/generate-content/provider-side/endpoint'
import { commonRateLimitHeaders } from '@/formats/rate-limit-headers'
import { framing } from './framing'
import { passThrough } from './pass-through'
import { SERVER_TOOLS } from './server-tools'
import { decodeUsage } from './usage'

export { decodeCountTokens, encodeCountTokens } from '@/formats/generate-content/client-side/count-tokens'
export { parseModelPath } from '@/formats/generate-content/client-side/path'
export { jsonArrayFraming } from './framing'

export const generateContent = {
  name: 'generate-content',
  requestSchema: GenerateContentRequest,
  recognition,
  endpoint,
  serverTools: SERVER_TOOLS,
  modelListing,
  decodeRequest,
  decodeLoneBody,
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
