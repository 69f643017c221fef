/** Parts of an answer for generate-content clients, shared by complete and streamed answers. */
import type { Signature } from '@/chat/request'
import type { AnswerBlock } from '@/chat/response'
import type { AnswerContext } from '@/formats/format'
import { encodeRedacted, encodeSignature } from '@/formats/generate-content/signature'
import { encodeArguments } from '@/formats/generate-content/tool-calls'
import { isJsonObject, type JsonObject, parseJson, textOf } from '@/lib/json'

/** The parts of one block. Reasoning is only sent on request; a proof without text is always sent. */
export function encodeBlock(block: AnswerBlock, { wantsReasoning, answerField }: AnswerContext): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ text: answerText(block.text, answerField), ...encodeProof(block.signature) }]
    case 'refusal':
      return [{ text: block.text }]
    case 'reasoning':
      if (block.redacted) return [encodeRedactedThought(block.redacted)]
      if (!wantsReasoning && block.text !== '') return []
      return block.text === '' && !block.signature ? [] : [encodeThought(block.text, block.signature)]
    case 'tool-call':
      return [encodeCall(block.id, block.name, block.argumentsText, block.signature)]
    case 'audio':
      return [{ inlineData: { mimeType: block.mediaType, data: block.data } }]
    case 'image':
      return block.source.type === 'base64' ? [encodeImage(block.source.mediaType, block.source.data)] : []
  }
}

/** The answer's text. If it is a JSON object with `field`, only that field's value. */
export function answerText(text: string, field: string | undefined): string {
  const answer = field === undefined ? undefined : parseJson(text)
  return (field !== undefined && isJsonObject(answer) && textOf(answer[field])) || text
}

/** A thought part. */
export function encodeThought(text: string, signature?: Signature): JsonObject {
  return { text, thought: true, ...encodeProof(signature) }
}

/** An encrypted reasoning block, sent as a thought without text. */
export function encodeRedactedThought(redacted: Signature): JsonObject {
  return { text: '', thought: true, thoughtSignature: encodeRedacted(redacted) }
}

/** A complete call with its id, to which the client's result refers. */
export function encodeCall(id: string, name: string, argumentsText: string, signature?: Signature): JsonObject {
  return { functionCall: { id, name, args: encodeArguments(argumentsText) }, ...encodeProof(signature) }
}

/** An image made by the model. */
export function encodeImage(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } }
}

/** The field `thoughtSignature`, if there is a proof. */
export function encodeProof(signature: Signature | undefined): JsonObject {
  return signature ? { thoughtSignature: encodeSignature(signature) } : {}
}
