/**
 * Takes thinking that no messages provider signed out of a request on its way through: one foreign block refuses it
 * all.
 */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { isForeignSignature } from './signature'

/**
 * Changes `copy` only at its top level: messages that hold foreign thinking are replaced by ones without, and left out where
 * nothing else was in them. Where the running tool loop thereby lost its thinking, thinking with a budget is switched off,
 * because the API demands that such a loop begins with a thought.
 */
export function restoreSignatures(copy: JsonObject): void {
  const { messages } = copy
  if (!Array.isArray(messages) || !messages.some(hasForeignThinking)) return
  const caller = messages.findLastIndex((message) => isJsonObject(message) && message.role === 'assistant')
  copy.messages = messages.flatMap(withoutForeignThinking)
  const { thinking } = copy
  if (isJsonObject(thinking) && thinking.type === 'enabled' && lostItsThinking(messages[caller])) {
    copy.thinking = { type: 'disabled' }
  }
}

function hasForeignThinking(message: JsonValue): boolean {
  return blocksOf(message).some(isForeign)
}

function blocksOf(message: JsonValue | undefined): JsonValue[] {
  return isJsonObject(message) && message.role === 'assistant' && Array.isArray(message.content) ? message.content : []
}

function isForeign(block: JsonValue): boolean {
  if (!isJsonObject(block)) return false
  if (block.type === 'thinking') return isForeignSignature(block.signature)
  return block.type === 'redacted_thinking' && isForeignSignature(block.data)
}

function withoutForeignThinking(message: JsonValue): JsonValue[] {
  if (!isJsonObject(message) || !hasForeignThinking(message)) return [message]
  const content = blocksOf(message).filter((block) => !isForeign(block))
  return content.length > 0 ? [{ ...message, content }] : []
}

function lostItsThinking(message: JsonValue | undefined): boolean {
  const blocks = blocksOf(message)
  const first = blocks.find((block) => !isForeign(block))
  const isCall = blocks.some((block) => isJsonObject(block) && block.type === 'tool_use')
  return isCall && blocks.some(isForeign) && isJsonObject(first) && !textOf(first.type)?.endsWith('thinking')
}
