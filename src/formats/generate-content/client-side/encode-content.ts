/** Pieces of an answer as parts, for generate-content clients: shared by complete and streamed answers. */
import type { Signature } from '@/chat/request'
import type { AnswerBlock } from '@/chat/response'
import type { AnswerContext } from '@/formats/format'
import { encodeRedacted, encodeSignature } from '@/formats/generate-content/signature'
import { encodeArguments } from '@/formats/generate-content/tool-calls'
import { isJsonObject, type JsonObject, parseJson, textOf } from '@/lib/json'

/** The parts of one block. Reasoning is for callers who ask for it; a proof without text is kept for all. */
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

/** The text, or where it is an object of which `field` is the answer, that alone. */
export function answerText(text: string, field: string | undefined): string {
  const answer = field === undefined ? undefined : parseJson(text)
  return (field !== undefined && isJsonObject(answer) && textOf(answer[field])) || text
}

/** A thought part. */
export function encodeThought(text: string, signature?: Signature): JsonObject {
  return { text, thought: true, ...encodeProof(signature) }
}

/** An encrypted reasoning block, which rides on a thought without text. */
export function encodeRedactedThought(redacted: Signature): JsonObject {
  return { text: '', thought: true, thoughtSignature: encodeRedacted(redacted) }
}

/** A whole call with its id, by which the client's result finds it again. */
export function encodeCall(id: string, name: string, argumentsText: string, signature?: Signature): JsonObject {
  return { functionCall: { id, name, args: encodeArguments(argumentsText) }, ...encodeProof(signature) }
}

/** An image the model made. */
export function encodeImage(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } }
}

/** `thoughtSignature`, where there is a proof. */
export function encodeProof(signature: Signature | undefined): JsonObject {
  return signature ? { thoughtSignature: encodeSignature(signature) } : {}
}
