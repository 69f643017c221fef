/** Removes the gateway's additions, and references to stored data, from a caller's input. */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { isForeignSignature } from './signature'
import { encodeToolId } from './tool-calls'

/** Items of provider-run tools, which the provider identifies by id. */
const HOSTED =
  /^(?:web_search|file_search|code_interpreter|image_generation|mcp|computer|local_shell|shell|apply_patch)(?:_|$)/
/** Items that the model made. A reasoning item must be followed by one of them. */
const GIVEN = /^(?:reasoning|function_call|custom_tool_call|tool_search_call|compaction|program)$/

/**
 * `input` for a provider. Reasoning is removed if no provider of this format encrypted it, or if no item follows it. Ids are removed from
 * items that are not encrypted. Fields that OpenAI's library adds to parsed calls are removed, since a provider refuses them. Long call ids
 * are shortened. Shares unchanged parts; never changes `input`.
 */
export function restoreSignatures(input: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(input)) return input
  const kept: JsonValue[] = []
  // Starts at the end: a reasoning item is only kept if an item of the model follows it.
  for (let index = input.length - 1; index >= 0; index--) {
    const item = input[index]
    if (!isJsonObject(item)) {
      if (item !== undefined) kept.push(item)
      continue
    }
    const restored = item.type === 'reasoning' ? restoreThought(item, kept.at(-1)) : restoreItem(item)
    if (restored) kept.push(restored)
  }
  return kept.reverse()
}

/** Open-weight models accept their own plain reasoning; other models only read encrypted reasoning. */
function restoreThought(item: JsonObject, next: JsonValue | undefined): JsonObject | undefined {
  if (!isGiven(next)) return undefined
  const encrypted = textOf(item.encrypted_content) ?? ''
  if (encrypted !== '') return isForeignSignature(encrypted) ? undefined : item
  return withoutProof(item)
}

function isGiven(item: JsonValue | undefined): boolean {
  if (!isJsonObject(item)) return false
  const type = textOf(item.type)
  if (type === undefined || type === 'message') return item.role === 'assistant'
  return GIVEN.test(type) || (HOSTED.test(type) && !type.endsWith('_output'))
}

function restoreItem(item: JsonObject): JsonObject {
  const type = textOf(item.type) ?? 'message'
  const id = textOf(item.call_id)
  const wireId = id === undefined || id === '' ? id : encodeToolId(id)
  const hasItemId = item.id !== undefined && type !== 'item_reference' && type !== 'compaction' && !HOSTED.test(type)
  if (!hasItemId && wireId === id && item.parsed_arguments === undefined) return item
  const { id: itemId, parsed_arguments: _, ...rest } = item
  return {
    ...rest,
    ...(!hasItemId && itemId !== undefined && { id: itemId }),
    ...(wireId !== id && { call_id: wireId }),
  }
}

/** Reasoning without encrypted content and the id that belongs to it; undefined if nothing readable remains. */
function withoutProof({ id: _, encrypted_content: _encrypted, ...rest }: JsonObject): JsonObject | undefined {
  return Array.isArray(rest.content) && rest.content.length > 0 ? rest : undefined
}

/** The body without encrypted reasoning, for a provider that refused reasoning made with another key. Undefined if there is none. */
export function withoutProofs(body: JsonObject): JsonObject | undefined {
  const { input } = body
  if (!Array.isArray(input) || !input.some(hasProof)) return undefined
  const kept = input.flatMap((item): JsonValue[] => {
    if (!isJsonObject(item) || !hasProof(item)) return [item]
    const rest = withoutProof(item)
    return rest ? [rest] : []
  })
  return { ...body, input: kept }
}

function hasProof(item: JsonValue): boolean {
  return isJsonObject(item) && item.type === 'reasoning' && textOf(item.encrypted_content) !== undefined
}
