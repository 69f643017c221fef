/** Corrects signatures in a caller's contents before they are sent to a generate-content provider. */
import type { ToolCallBlock, Turn } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { QUIRKS } from './provider'
import { isForeignSignature, ownSignature, SKIP_VALIDATION, signFirstCall } from './signature'

/**
 * `contents` without other formats' signatures. Signatures that the gateway stored for calls are added, from `turns`, which were decoded
 * from `contents`. With the quirk `thought-signatures`, steps without a signature get one that skips the check. Never changes `contents`.
 */
export function restoreSignatures(
  contents: JsonValue | undefined,
  turns: readonly Turn[],
  quirks: ReadonlySet<string>,
): JsonValue | undefined {
  if (!Array.isArray(contents)) return contents
  const calls = turns.flatMap((turn) => turn.content.filter((block) => block.type === 'tool-call'))[Symbol.iterator]()
  const isDemanded = quirks.has(QUIRKS.thoughtSignatures)
  const restored = contents.flatMap((content) => {
    if (!isJsonObject(content) || !Array.isArray(content.parts)) return [content]
    const original = content.parts.filter(isJsonObject)
    const known = original.flatMap((part) => restorePart(part, calls))
    const parts = isDemanded && content.role === 'model' ? signFirstCall(known) : known
    if (parts.length === original.length && parts.every((part, index) => part === original[index])) return [content]
    return parts.length > 0 ? [{ ...content, parts }] : []
  })
  return restored.length === contents.length && restored.every((content, index) => content === contents[index])
    ? contents
    : restored
}

function restorePart(part: JsonObject, calls: Iterator<ToolCallBlock>): JsonObject[] {
  const call = (part.functionCall ?? part.function_call) ? calls.next().value : undefined
  const key =
    part.thoughtSignature === undefined && part.thought_signature !== undefined
      ? 'thought_signature'
      : 'thoughtSignature'
  const value = part[key]
  if (typeof value === 'string' && !isForeignSignature(value)) return [part]
  const kept = ownSignature(call?.signature)
  if (kept !== undefined) return [{ ...part, [key]: kept }]
  if (value === undefined) return [part]
  const { [key]: _, ...rest } = part
  // An empty thought that only carried another format's proof is dropped.
  return rest.thought === true && (rest.text ?? '') === '' ? [] : [rest]
}

const KEYS = ['thoughtSignature', 'thought_signature']

/** The body for a provider that refused its proofs: without proofs, and with call checks skipped. Undefined if it has none. */
export function withoutProofs(body: JsonObject): JsonObject | undefined {
  const { contents } = body
  let hasProof = false
  function withoutProof(part: JsonValue): JsonValue {
    const key = isJsonObject(part) ? KEYS.find((name) => typeof part[name] === 'string') : undefined
    if (!isJsonObject(part) || key === undefined || part[key] === SKIP_VALIDATION) return part
    hasProof = true
    const { [key]: _, ...rest } = part
    return (part.functionCall ?? part.function_call) ? { ...rest, [key]: SKIP_VALIDATION } : rest
  }
  if (!Array.isArray(contents)) return undefined
  const stripped = contents.map((content) =>
    isJsonObject(content) && Array.isArray(content.parts)
      ? { ...content, parts: content.parts.map(withoutProof) }
      : content,
  )
  return hasProof ? { ...body, contents: stripped } : undefined
}
