/** Content blocks of an answer for messages clients, shared by complete and streamed answers. */
import type { ReasoningBlock, Signature } from '@/chat/request'
import type { AnswerBlock } from '@/chat/response'
import type { AnswerContext } from '@/formats/format'
import { encodeCitation } from '@/formats/messages/citations'
import { encodeSignature, type Signed } from '@/formats/messages/signature'
import { encodeArguments } from '@/formats/messages/tool-calls'
import type { JsonObject } from '@/lib/json'

/** The wire blocks for one block of the hub; `newId` returns ids valid in this format. */
export function encodeBlock(block: AnswerBlock, newId: (id: string) => string, context: AnswerContext): JsonObject[] {
  switch (block.type) {
    case 'text': {
      const cited = block.sources && { citations: block.sources.map(encodeCitation) }
      const texts = block.text === '' ? [] : [{ type: 'text', text: block.text, ...cited }]
      return context.wantsReasoning ? [...texts, ...encodeMarker(block.signature, 'text')] : texts
    }
    case 'refusal':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }]
    case 'reasoning':
      return encodeThought(block, context.wantsReasoning)
    case 'tool-call': {
      const input = encodeArguments(block.argumentsText)
      const marker = context.wantsReasoning ? encodeMarker(block.signature, 'call') : []
      return [...marker, { type: 'tool_use', id: newId(block.id), name: block.name, input }]
    }
    case 'image':
    case 'audio':
      return [{ type: 'text', text: omittedMedia(block.type) }]
  }
}

/** Answers of this format can't contain media. As text, the bytes would be unreadable and expensive when sent back. */
export function omittedMedia(type: 'image' | 'audio'): string {
  return `[${type} omitted: this API carries only text]`
}

/**
 * Callers who didn't ask for reasoning get none, because many clients read the first block as the text. The exception is a block signed by
 * this format's provider, which must be sent back unchanged. Signatures of other providers for a call are stored by gateway/signatures.
 */
export function encodeThought(block: Omit<ReasoningBlock, 'type'>, isWanted: boolean): JsonObject[] {
  const { redacted, signature, text } = block
  if (!isWanted && (redacted ?? signature)?.format !== 'messages') return []
  if (redacted) return [encodeRedacted(redacted)]
  if (text === '' && !signature) return []
  return [{ type: 'thinking', thinking: text, signature: encodeSignature(signature, 'reasoning') }]
}

function encodeRedacted(redacted: Signature): JsonObject {
  return { type: 'redacted_thinking', data: encodeSignature(redacted, 'reasoning') }
}

/** An empty thinking block with another provider's signature of a neighbouring block. */
export function encodeMarker(signature: Signature | undefined, signs: Signed): JsonObject[] {
  if (!signature || signature.format === 'messages') return []
  return [{ type: 'thinking', thinking: '', signature: encodeSignature(signature, signs) }]
}
