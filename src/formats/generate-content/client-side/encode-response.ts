import type { TextBlock } from '@/chat/request'
import type { ChatResponse, Choice } from '@/chat/response'
import { type Source, withPlaces } from '@/chat/sources'
import type { AnswerContext } from '@/formats/format'
import { encodeFinishReason } from '@/formats/generate-content/finish-reason'
import { encodeGrounding } from '@/formats/generate-content/grounding'
import { encodeLogprobs } from '@/formats/generate-content/logprobs'
import { encodeUsage } from '@/formats/generate-content/usage'
import type { JsonObject } from '@/lib/json'
import { encodeBlock } from './encode-content'

/** Encodes a complete answer for generate-content clients: the body of `:generateContent`. */
export function encodeResponse(response: ChatResponse, context: AnswerContext): JsonObject {
  return {
    candidates: response.choices.map((choice) => encodeCandidate(choice, context)),
    ...(response.usage && { usageMetadata: encodeUsage(response.usage) }),
    modelVersion: context.model,
    responseId: context.id,
  }
}

function encodeCandidate(choice: Choice, context: AnswerContext): JsonObject {
  const parts = choice.content.flatMap((block) => encodeBlock(block, context))
  const texts = choice.content.filter((block) => block.type === 'text')
  const logprobsResult = encodeLogprobs(choice.logprobs)
  return {
    content: { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] },
    finishReason: encodeFinishReason(choice.finish),
    index: choice.index,
    ...encodeGrounding(sourcesOf(texts), texts.map(({ text }) => text).join('')),
    ...(logprobsResult && { logprobsResult }),
  }
}

function sourcesOf(texts: readonly TextBlock[]): Source[] {
  let before = 0
  return texts.flatMap(({ text, sources = [] }) => {
    before += text.length
    return withPlaces(sources, before - text.length, text.length)
  })
}
