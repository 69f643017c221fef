/** System messages in the middle of a conversation: kept where the model takes them, else told inside a user message. */
import type { JsonObject } from '@/lib/json'

export type Message = { role: 'user' | 'assistant' | 'system'; content: JsonObject[] }

/**
 * Returns the messages with every system message made one of the user, except, where `isSupported`, those that stand where
 * the API accepts them: right after a user message, and last or right before an assistant one. Neighbours differ in role.
 */
export function foldSystemMessages(messages: readonly Message[], isSupported: boolean): Message[] {
  return messages.map((message, index) => {
    if (message.role !== 'system') return message
    const next = messages[index + 1]
    const isAccepted = messages[index - 1]?.role === 'user' && (!next || next.role === 'assistant')
    return isSupported && isAccepted ? message : { role: 'user', content: message.content.map(wrap) }
  })
}

function wrap(block: JsonObject): JsonObject {
  return block.type === 'text' ? { ...block, text: `<system>${block.text}</system>` } : block
}
