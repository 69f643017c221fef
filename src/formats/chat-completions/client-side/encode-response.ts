/** An answer of the hub as a complete chat-completions answer. */
import type { ToolCallBlock } from '@/chat/request'
import type { ChatResponse, Choice } from '@/chat/response'
import { encodeFinishReason } from '@/formats/chat-completions/finish-reason'
import { formatDataUrl } from '@/formats/chat-completions/media'
import { markSignature } from '@/formats/chat-completions/signature'
import { NO_ARGUMENTS } from '@/formats/chat-completions/tool-arguments'
import { encodeUsage } from '@/formats/chat-completions/usage'
import type { AnswerContext } from '@/formats/format'
import type { JsonObject } from '@/lib/json'

/** Reasoning goes into `reasoning_content` and images into `images`: nobody's standard, but what clients look for. */
export function encodeResponse(response: ChatResponse, context: AnswerContext): JsonObject {
  return {
    id: context.id,
    object: 'chat.completion',
    created: context.created,
    model: context.model,
    choices: response.choices.map(encodeChoice),
    ...(response.usage && { usage: encodeUsage(response.usage) }),
  }
}

/** An image of an answer. */
export function encodeImage(url: string): JsonObject {
  return { type: 'image_url', image_url: { url } }
}

function encodeChoice(choice: Choice): JsonObject {
  const text = joinTexts(choice, 'text')
  const refusal = joinTexts(choice, 'refusal')
  const reasoning = joinTexts(choice, 'reasoning')
  const images = choice.content.flatMap((block) =>
    block.type === 'image' ? [encodeImage(imageUrl(block.source))] : [],
  )
  const calls = choice.content.flatMap((block) => (block.type === 'tool-call' ? [encodeCall(block)] : []))
  const isSilent = text === '' && (calls.length > 0 || refusal !== '')
  return {
    index: choice.index,
    message: {
      role: 'assistant',
      content: isSilent ? null : text,
      refusal: refusal === '' ? null : refusal,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    logprobs: choice.logprobs ?? null,
    finish_reason: encodeFinishReason(choice.finish, calls.length > 0),
  }
}

function joinTexts(choice: Choice, type: 'text' | 'refusal' | 'reasoning'): string {
  let text = ''
  for (const block of choice.content) if (block.type === type) text += block.text
  return text
}

function imageUrl(source: Extract<Choice['content'][number], { type: 'image' }>['source']): string {
  if (source.type === 'base64') return formatDataUrl(source.mediaType, source.data)
  return source.type === 'url' ? source.url : source.id
}

function encodeCall(call: ToolCallBlock): JsonObject {
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.argumentsText.trim() === '' ? NO_ARGUMENTS : call.argumentsText },
    ...markSignature(call.signature),
  }
}
