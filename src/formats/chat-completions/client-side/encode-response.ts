import type { ChatResponse, Choice } from '@/chat/response'
import { withPlaces } from '@/chat/sources'
import { encodeFinishReason } from '@/formats/chat-completions/finish-reason'
import { encodeUsage } from '@/formats/chat-completions/usage'
import type { AnswerContext } from '@/formats/format'
import { encodeAnnotation } from '@/formats/url-citations'
import type { JsonObject } from '@/lib/json'
import { encodeCall, encodeImage } from './encode-content'

/** Encodes a complete answer for chat-completions clients, which look for `reasoning_content` and `images` although no standard defines them. */
export function encodeResponse(response: ChatResponse, context: AnswerContext): JsonObject {
  return {
    id: context.id,
    object: 'chat.completion',
    created: context.created,
    model: context.model,
    choices: response.choices.map((choice) => encodeChoice(choice, context)),
    ...(response.usage && { usage: encodeUsage(response.usage) }),
    ...(context.forOpenRouter && { system_fingerprint: null }),
  }
}

function encodeChoice(choice: Choice, { wantsFunctionCall = false, toolOrigins }: AnswerContext): JsonObject {
  const text = joinTexts(choice, 'text')
  const refusal = joinTexts(choice, 'refusal')
  const reasoning = joinTexts(choice, 'reasoning')
  const images = choice.content.flatMap((block) => (block.type === 'image' ? [encodeImage(block.source)] : []))
  const isCustom = (name: string) => toolOrigins?.get(name)?.kind === 'custom'
  const calls = choice.content.flatMap((block) =>
    block.type === 'tool-call' ? [encodeCall(block, isCustom(block.name))] : [],
  )
  const annotations = annotationsOf(choice)
  const emitted = { hasToolCalls: calls.length > 0, hasRefusal: refusal !== '' }
  const isSilent = text === '' && (calls.length > 0 || refusal !== '')
  return {
    index: choice.index,
    message: {
      role: 'assistant',
      content: isSilent ? null : text,
      refusal: refusal === '' ? null : refusal,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(images.length > 0 && { images }),
      ...(annotations.length > 0 && { annotations }),
      ...(calls.length > 0 && (wantsFunctionCall ? { function_call: calls[0]?.function } : { tool_calls: calls })),
    },
    logprobs: choice.logprobs ?? null,
    finish_reason: encodeFinishReason(choice.finish, emitted, wantsFunctionCall),
  }
}

function annotationsOf({ content }: Choice): JsonObject[] {
  let before = 0
  return content.flatMap((block) => {
    if (block.type !== 'text') return []
    const { text, sources = [] } = block
    before += text.length
    return withPlaces(sources, before - text.length, text.length).map((source) => encodeAnnotation(source, true))
  })
}

function joinTexts(choice: Choice, type: 'text' | 'refusal' | 'reasoning'): string {
  let text = ''
  for (const block of choice.content) if (block.type === type) text += block.text
  return text
}
