/** Removes thinking that a provider would refuse: thinking without this format's signature, or all thinking after a refusal. */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { hasForeignCitations, withoutForeignCitations } from './citations'
import { isForeignSignature } from './signature'

type IsUnwanted = (block: JsonValue) => boolean

/** Changes only top-level fields of `copy`, see {@link withoutThinking}. */
export function restoreSignatures(copy: JsonObject): void {
  Object.assign(copy, withoutThinking(copy, isForeign))
  const { messages } = copy
  if (!Array.isArray(messages) || !messages.some((message) => blocksOf(message).some(hasForeignCitations))) return
  copy.messages = messages.map((message) =>
    isJsonObject(message) && blocksOf(message).some(hasForeignCitations)
      ? { ...message, content: blocksOf(message).map(withoutForeignCitations) }
      : message,
  )
}

/** The body without thinking, for a provider that refused its signatures. Undefined if it has no thinking. */
export function withoutProofs(body: JsonObject): JsonObject | undefined {
  const changes = withoutThinking(body, isThinking)
  return changes && { ...body, ...changes }
}

/**
 * The changes to `body`, if any: unwanted thinking is removed, and messages that contained nothing else are dropped. With a thinking
 * budget, the API requires a thought at the start of a tool loop. So thinking is switched off if the current tool loop loses it.
 */
function withoutThinking({ messages, thinking }: JsonObject, isUnwanted: IsUnwanted): JsonObject | undefined {
  if (!Array.isArray(messages) || !messages.some((message) => blocksOf(message).some(isUnwanted))) return undefined
  const caller = messages.findLastIndex((message) => isJsonObject(message) && message.role === 'assistant')
  const isOff = isJsonObject(thinking) && thinking.type === 'enabled' && lostItsThinking(messages[caller], isUnwanted)
  return {
    messages: messages.flatMap((message) => withoutBlocks(message, isUnwanted)),
    ...(isOff && { thinking: { type: 'disabled' } }),
  }
}

function blocksOf(message: JsonValue | undefined): JsonValue[] {
  return isJsonObject(message) && message.role === 'assistant' && Array.isArray(message.content) ? message.content : []
}

function isForeign(block: JsonValue): boolean {
  if (!isJsonObject(block)) return false
  if (block.type === 'thinking') return isForeignSignature(block.signature)
  return block.type === 'redacted_thinking' && isForeignSignature(block.data)
}

function isThinking(block: JsonValue): boolean {
  return isJsonObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking')
}

function withoutBlocks(message: JsonValue, isUnwanted: IsUnwanted): JsonValue[] {
  if (!isJsonObject(message) || !blocksOf(message).some(isUnwanted)) return [message]
  const content = blocksOf(message).filter((block) => !isUnwanted(block))
  return content.length > 0 ? [{ ...message, content }] : []
}

function lostItsThinking(message: JsonValue | undefined, isUnwanted: IsUnwanted): boolean {
  const blocks = blocksOf(message)
  const first = blocks.find((block) => !isUnwanted(block))
  const isCall = blocks.some((block) => isJsonObject(block) && block.type === 'tool_use')
  return isCall && blocks.some(isUnwanted) && isJsonObject(first) && !textOf(first.type)?.endsWith('thinking')
}
