/** The items of an answer as responses clients read them: shared by complete and streamed answers. */
import type { ReasoningBlock, Signature, ToolOrigin } from '@/chat/request'
import type { Source } from '@/chat/sources'
import type { AnswerContext } from '@/formats/format'
import { encodeCallSignature, encodeRedacted, encodeSignature, ownSignature } from '@/formats/responses/signature'
import { encodeAnnotation } from '@/formats/url-citations'
import { randomId } from '@/lib/ids'
import type { JsonObject } from '@/lib/json'

/** Whether an item is whole: one that a limit broke off is not. A call that is not whole must not be made. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** A message of one part; undefined for one that has just begun, and has none. */
export function messageItem(id: string, status: ItemStatus, part: JsonObject | undefined): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content: part ? [part] : [] }
}

/** A part of text. */
export function textPart(text: string, logprobs: JsonObject[] = [], sources: readonly Source[] = []): JsonObject {
  return { type: 'output_text', text, annotations: sources.map(encodeSource), logprobs }
}

/** The annotation of a source. */
export function encodeSource(source: Source): JsonObject {
  return encodeAnnotation(source, false)
}

/** A part that says what the model will not do. */
export function refusalPart(refusal: string): JsonObject {
  return { type: 'refusal', refusal }
}

/** A part of a summary. All reasoning is in one part: most clients show no others. */
export function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text }
}

/** A reasoning item; `proof` is its `encrypted_content`. */
export function reasoningItem(id: string, status: ItemStatus, text: string, proof: string | undefined): JsonObject {
  const summary = text === '' ? [] : [summaryPart(text)]
  return { id, type: 'reasoning', status, summary, ...(proof !== undefined && { encrypted_content: proof }) }
}

/** A call as the caller named the tool; `text` is its arguments, or the text of a custom tool. */
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

/** An image that the model made. */
export function imageItem(id: string, status: ItemStatus, data: string | null): JsonObject {
  return { id, type: 'image_generation_call', status, result: data }
}

/** The id of a new item: that which a proof of this format was minted with, so that both go back together. */
export function reasoningId(signature: Signature | undefined): string {
  return ownSignature(signature)?.id || randomId('rs')
}

/** A reasoning item: its text where wanted, and its signature unless foreign to a hidden text; undefined for nothing. */
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

/** The reasoning item before a call that carries the call's own proof, which has no other place. */
export function callProofItem(signature: Signature | undefined, context: AnswerContext): JsonObject[] {
  if (!signature || !context.wantsEncryptedReasoning) return []
  return [reasoningItem(randomId('rs'), 'completed', '', encodeCallSignature(signature))]
}
