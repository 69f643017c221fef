/** The chat-completions format (family 1, OpenAI style), with functions that only its own endpoints need. */
import { invalidRequest } from '@/chat/error'
import { AnswerSchema, ErrorSchema, EventSchema } from '@/formats/chat-completions/client-side/answer-schema'
import { decodeRequest, recognition } from '@/formats/chat-completions/client-side/decode-request'
import { encodeEmbeddings } from '@/formats/chat-completions/client-side/embeddings'
import { encodeError } from '@/formats/chat-completions/client-side/encode-error'
import { encodeResponse } from '@/formats/chat-completions/client-side/encode-response'
import { createStreamEncoder } from '@/formats/chat-completions/client-side/encode-stream'
import { chatCompletionsRequest } from '@/formats/chat-completions/client-side/wire'
import { decodeError } from '@/formats/chat-completions/provider-side/decode-error'
import { decodeResponse } from '@/formats/chat-completions/provider-side/decode-response'
import { createStreamDecoder } from '@/formats/chat-completions/provider-side/decode-stream'
import {
  askedEncoding,
  decodeEmbeddingsResponse,
  encodeEmbeddingsRequest,
  MAX_INPUTS,
} from '@/formats/chat-completions/provider-side/embeddings'
import { encodeRequest } from '@/formats/chat-completions/provider-side/encode-request'
import { picturesCall } from '@/formats/chat-completions/provider-side/pictures'
import { rerankCall } from '@/formats/chat-completions/provider-side/rerank'
import { speechCall } from '@/formats/chat-completions/provider-side/speech'
import { transcriptionCall } from '@/formats/chat-completions/provider-side/transcription'
import type { Format } from '@/formats/format'
import { commonRateLimitHeaders } from '@/formats/rate-limit-headers'
import { createRequestCheck } from '@/formats/schema-check'
import type { JsonObject } from '@/lib/json'
import { requestFields } from './body-fields'
import { framing } from './framing'
import { LIMITS, TOOL_NAMES } from './limits'
import { passThrough } from './pass-through'
import { endpoint } from './provider'
import { SERVER_TOOLS } from './server-tools'
import { COST_PLACE, decodeUsage } from './usage'

export {
  decodeEmbeddings,
  EmbeddingsRequest,
  EmbeddingsResponse,
} from '@/formats/chat-completions/client-side/embeddings'

export {
  decodePictureEdit,
  decodePictures,
  PictureEditRequest,
  PictureEvent,
  PicturesRequest,
  PicturesResponse,
} from '@/formats/chat-completions/client-side/pictures'

export {
  decodeRerank,
  RerankAnswer,
  RerankAnswerV2,
  RerankBody,
  RerankBodyV2,
} from '@/formats/chat-completions/client-side/rerank'
export { decodeSpeech, SpeechBody } from '@/formats/chat-completions/client-side/speech'
export {
  decodeTranscription,
  decodeTranslation,
  soundOf,
  TranscriptionBody,
  TranslationBody,
} from '@/formats/chat-completions/client-side/transcription'

/** The format with a limit of `maxMessages` messages per request. */
export function createChatCompletions(maxMessages: number) {
  const requestSchema = chatCompletionsRequest(maxMessages)
  const check = createRequestCheck(requestSchema)
  const decode = (body: JsonObject) => {
    refuseTooMany(body, maxMessages)
    return decodeRequest(body, check)
  }
  return {
    name: 'chat-completions',
    requestSchema,
    answerSchema: AnswerSchema,
    eventSchema: EventSchema,
    errorSchema: ErrorSchema,
    recognition,
    endpoint,
    toolNames: TOOL_NAMES,
    requestFields,
    serverTools: SERVER_TOOLS,
    embeddings: {
      maxInputs: MAX_INPUTS,
      takesTokens: true,
      askedEncoding,
      encodeRequest: encodeEmbeddingsRequest,
      decodeResponse: decodeEmbeddingsResponse,
      encodeResponse: encodeEmbeddings,
    },
    media: { speech: speechCall, transcription: transcriptionCall, image: picturesCall, rerank: rerankCall },
    decodeRequest: decode,
    decodeLoneBody: decode,
    encodeRequest,
    decodeResponse,
    encodeResponse,
    createStreamDecoder,
    createStreamEncoder,
    encodeError,
    rateLimitHeaders: commonRateLimitHeaders,
    decodeError,
    decodeUsage,
    costPlace: COST_PLACE,
    passThrough,
    framing,
  } satisfies Format
}

export const chatCompletions = createChatCompletions(LIMITS.messages.maxItems)

/** Operators can raise only this limit, so its error also names the setting. */
function refuseTooMany({ messages }: JsonObject, most: number): void {
  if (!Array.isArray(messages) || messages.length <= most) return
  const message = `messages has ${messages.length} items; a request may have at most ${most} here. The operator can raise this limit (MAX_CHAT_MESSAGES).`
  throw invalidRequest(message, 'messages')
}
