/** Writes reasoning as thinking blocks, so that a signature comes back with the next request and nothing foreign goes upstream. */
import type { ReasoningBlock, Signature } from '@/chat/request'
import { markSignature, type Signed } from '@/formats/messages/signature'
import type { JsonObject } from '@/lib/json'

/**
 * The caller who did not ask for reasoning gets none: many clients read the first block as the text. Except that a block
 * which this format's provider signed is kept whole, because the provider demands it back byte for byte, and another
 * provider's signature is kept without the text.
 */
export function encodeReasoningBlock(block: Omit<ReasoningBlock, 'type'>, isWanted: boolean): JsonObject[] {
  if (block.redacted) return [redactedBlock(block.redacted)]
  if (!isWanted && !block.signature) return []
  if (block.text === '' && !block.signature) return []
  const isShown = isWanted || block.signature?.format === 'messages'
  return [
    { type: 'thinking', thinking: isShown ? block.text : '', signature: markSignature(block.signature, 'reasoning') },
  ]
}

/** Thinking in its encrypted form, marked where another format encrypted it. */
export function redactedBlock(redacted: Signature): JsonObject {
  return { type: 'redacted_thinking', data: markSignature(redacted, 'reasoning') }
}

/** An empty thinking block that carries another provider's signature of a neighbouring block. */
export function markerBlock(signature: Signature | undefined, signs: Signed): JsonObject[] {
  if (!signature || signature.format === 'messages') return []
  return [{ type: 'thinking', thinking: '', signature: markSignature(signature, signs) }]
}
