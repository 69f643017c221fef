import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { QUIRKS } from './provider'
import { decodeSignature, isForeignSignature, ownSignature } from './signature'

/** Removes marked signatures from chat-completions messages, or only the mark if the provider accepts them. Never changes `messages`. */
export function restoreSignatures(messages: JsonValue | undefined, quirks: ReadonlySet<string>): JsonValue | undefined {
  if (!Array.isArray(messages) || !messages.some(isMarkedMessage)) return messages
  const isTaken = quirks.has(QUIRKS.googleExtraContent)
  return messages.map((message) => {
    if (!isJsonObject(message) || !isMarkedMessage(message)) return message
    return { ...message, tool_calls: callsOf(message).map((call) => restoreCall(call, isTaken)) }
  })
}

function restoreCall(call: JsonValue, isTaken: boolean): JsonValue {
  if (!isJsonObject(call) || !isForeignSignature(call.extra_content)) return call
  const { extra_content: extra, ...rest } = call
  return isTaken ? { ...rest, ...ownSignature(decodeSignature(extra)) } : rest
}

function isMarkedMessage(message: JsonValue): boolean {
  return isJsonObject(message) && callsOf(message).some(isMarkedCall)
}

function isMarkedCall(call: JsonValue): boolean {
  return isJsonObject(call) && isForeignSignature(call.extra_content)
}

function callsOf(message: JsonObject): JsonValue[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls : []
}
