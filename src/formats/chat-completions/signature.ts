/**
 * Gemini's thought signatures in `tool_calls[].extra_content.google`, the only field of chat-completions for a proof. Signatures from
 * generate-content providers get a mark for the client. Signatures with the mark are sent to no other provider. Signatures without it come
 * from a chat-completions provider of the same vendor, and are passed on unchanged.
 */
import type { Signature } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

const MARK = 'svc.generate-content.'

/** The signature of a call, marked or not; undefined if there is none. */
export function decodeSignature(extraContent: JsonValue | undefined): Signature | undefined {
  const value = valueIn(extraContent)
  if (value === undefined || value === '' || value === MARK) return undefined
  return { format: 'generate-content', value: value.startsWith(MARK) ? value.slice(MARK.length) : value }
}

/** The field with a call's signature for a client; empty if this format can't express it. */
export function encodeSignature(signature: Signature | undefined): { extra_content?: JsonObject } {
  return signature?.format === 'generate-content' ? extraContent(MARK + signature.value) : {}
}

/** The signature in the field of a call, without the mark, for a provider that accepts it. */
export function ownSignature(signature: Signature | undefined): { extra_content?: JsonObject } {
  return signature?.format === 'generate-content' ? extraContent(signature.value) : {}
}

/** Whether a call's `extra_content` contains a marked signature, which a generate-content provider made. */
export function isForeignSignature(extraContent: JsonValue | undefined): boolean {
  return valueIn(extraContent)?.startsWith(MARK) ?? false
}

function valueIn(extra: JsonValue | undefined): string | undefined {
  const google = isJsonObject(extra) ? extra.google : undefined
  const value = isJsonObject(google) ? google.thought_signature : undefined
  return textOf(value)
}

function extraContent(value: string): { extra_content: JsonObject } {
  return { extra_content: { google: { thought_signature: value } } }
}
