/** Items of an answer for responses clients, shared by complete and streamed answers. */
import type { ReasoningBlock, Signature, ToolOrigin } from '@/chat/request'
import type { Source } from '@/chat/sources'
import type { AnswerContext } from '@/formats/format'
import { encodeCallSignature, encodeRedacted, encodeSignature, ownSignature } from '@/formats/responses/signature'
import { encodeAnnotation } from '@/formats/url-citations'
import { randomId } from '@/lib/ids'
import type { JsonObject } from '@/lib/json'

/** The status of an item. An item that a limit cut off is `incomplete`; such a call must not be executed. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** A message with one part; `part` is undefined if the message has just begun. */
export function messageItem(id: string, status: ItemStatus, part: JsonObject | undefined): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content: part ? [part] : [] }
}

/** Writes a text part. */
export function textPart(text: string, logprobs: JsonObject[] = [], sources: readonly Source[] = []): JsonObject {
  return { type: 'output_text', text, annotations: sources.map(encodeSource), logprobs }
}

/** Writes a source as an annotation. */
export function encodeSource(source: Source): JsonObject {
  return encodeAnnotation(source, false)
}

/** A part with a refusal of the model. */
export function refusalPart(refusal: string): JsonObject {
  return { type: 'refusal', refusal }
}

/** A part of a summary. All reasoning is in one part, since most clients show only the first. */
export function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text }
}

/** A reasoning item; `proof` is its `encrypted_content`. */
export function reasoningItem(id: string, status: ItemStatus, text: string, proof: string | undefined): JsonObject {
  const summary = text === '' ? [] : [summaryPart(text)]
  return { id, type: 'reasoning', status, summary, ...(proof !== undefined && { encrypted_content: proof }) }
}

/** A call with the caller's name of the tool; `text` is its arguments, or a custom tool's text. */
export function callItem(
  call: { id: string; callId: string; name: string; text: string },
  status: ItemStatus,
  origin: ToolOrigin | undefined,
): JsonObject {
  const { id, callId } = call
  const named = { name: origin?.name ?? call.name, ...(origin?.namespace && { namespace: origin.namespace }) }
  const text = status === 'in_progress' ? '' : call.text
  if (origin?.kind === 'custom') return { id, type: 'custom_tool_call', status, call_id: callId, ...named, input: text }
  return { id, type: 'function_call', status, call_id: callId, ...named, arguments: text }
}

/** An image made by the model. */
export function imageItem(id: string, status: ItemStatus, data: string | null): JsonObject {
  return { id, type: 'image_generation_call', status, result: data }
}

/** The id of a new reasoning item: the id in this format's proof, since a provider checks both together, or a random one. */
export function reasoningId(signature: Signature | undefined): string {
  return ownSignature(signature)?.id || randomId('rs')
}

/** A reasoning item: its text if requested, and its signature unless that belongs to hidden text; undefined if both are missing. */
export function tellThought(
  { text, signature, redacted }: Omit<ReasoningBlock, 'type'>,
  id: string,
  { wantsReasoning, wantsEncryptedReasoning }: AnswerContext,
): { text: string; proof: string | undefined } | undefined {
  const told = wantsReasoning ? text : ''
  const isHidden = told !== text && !ownSignature(signature)
  const kept = wantsEncryptedReasoning && !isHidden
  if (redacted) return kept ? { text: '', proof: encodeRedacted(redacted) } : undefined
  const proof = kept && signature ? encodeSignature(signature, id) : undefined
  return told !== '' || proof !== undefined ? { text: told, proof } : undefined
}

/** A reasoning item before a call, which contains the call's own proof because calls have no field for it. */
export function callProofItem(signature: Signature | undefined, context: AnswerContext): JsonObject[] {
  if (!signature || !context.wantsEncryptedReasoning) return []
  return [reasoningItem(randomId('rs'), 'completed', '', encodeCallSignature(signature))]
}
