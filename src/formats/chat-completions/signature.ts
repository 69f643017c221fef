/**
 * Gemini's thought signatures in `tool_calls[].extra_content.google`: the one place that chat-completions has for a
 * proof. A client gets those of generate-content providers marked, so that they can be distinguished from those that a
 * chat-completions provider of the same vendor gave out itself: the marked ones go to no other provider, the others are
 * between that provider and its caller.
 */
import type { Signature } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

const MARK = 'svc.generate-content.'

/** The signature of a call, marked or not, or undefined. */
export function decodeSignature(extraContent: JsonValue | undefined): Signature | undefined {
  const value = valueIn(extraContent)
  if (value === undefined || value === '' || value === MARK) return undefined
  return { format: 'generate-content', value: value.startsWith(MARK) ? value.slice(MARK.length) : value }
}

/** The field that carries a call's signature to a client; nothing if there is none that it can carry. */
export function encodeSignature(signature: Signature | undefined): { extra_content?: JsonObject } {
  return signature?.format === 'generate-content' ? extraContent(MARK + signature.value) : {}
}

/** The same for a provider that takes it, as that vendor mints it. */
export function ownSignature(signature: Signature | undefined): { extra_content?: JsonObject } {
  return signature?.format === 'generate-content' ? extraContent(signature.value) : {}
}

/** Whether a call's `extra_content` holds a marked signature, which only a provider of the other format gave out. */
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
