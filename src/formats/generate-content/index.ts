/** The generate-content format (family 3, Gemini style), and what its endpoints need beside the common contract. */
import type { Format } from '@/formats/format'
import { decodeRequest } from './decode-request'
import { decodeResponse } from './decode-response'
import { createStreamDecoder } from './decode-stream'
import { encodeRequest } from './encode-request'
import { encodeResponse } from './encode-response'
import { createStreamEncoder } from './encode-stream'
import { decodeError, encodeError } from './error'
import { sseFraming } from './framing'
import { passThrough } from './pass-through'
import { decodeUsage } from './usage'

export { encodeCountTokens } from './count-tokens'
export { decodeCountTokens } from './decode-request'
export { jsonArrayFraming } from './framing'
export { encodeModel, encodeModelList, type ListedModel } from './models'
export { type ModelPath, parseModelPath, type Verb } from './path'

export const generateContent = {
  name: 'generate-content',
  decodeRequest,
  encodeRequest,
  decodeResponse: (body) => decodeResponse(body),
  encodeResponse,
  createStreamDecoder: () => createStreamDecoder(),
  createStreamEncoder,
  encodeError,
  decodeError,
  decodeUsage,
  passThrough,
  framing: sseFraming,
} satisfies Format
