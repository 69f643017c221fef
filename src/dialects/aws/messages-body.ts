/** Parts of a messages body that Bedrock, unlike Anthropic, doesn't accept. */
import { invalidRequest } from '@/chat/error'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** Throws `invalid_request` for an image or document given by URL, since only bytes are accepted. */
export function refuseAddresses({ messages }: JsonObject): void {
  for (const [index, message] of listOf(messages).entries()) {
    const blocks = listOf(message.content)
    for (const block of [...blocks, ...blocks.flatMap(({ content }) => listOf(content))]) {
      if (!isJsonObject(block.source) || block.source.type !== 'url') continue
      const path = `messages[${index}].content`
      throw invalidRequest(
        `this model's provider takes an ${String(block.type)} as base64 data, not by its url (${path})`,
        path,
      )
    }
  }
}

/** The objects of a list; empty if it is not a list. */
export function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** The body without hints that Bedrock refuses: a cache's scope, and early streaming of tool input. Never changes `body`. */
export function withoutHints(body: JsonObject): { plain: JsonObject; isEager: boolean } {
  let isEager = false
  const plain = (block: JsonObject): JsonObject => {
    const { cache_control: cache, content, eager_input_streaming: eager, ...rest } = block
    isEager ||= eager === true
    return {
      ...rest,
      ...(content !== undefined && { content: each(content) }),
      ...(cache !== undefined && { cache_control: isJsonObject(cache) ? withoutScope(cache) : cache }),
    }
  }
  const each = (value: JsonValue): JsonValue =>
    Array.isArray(value) ? value.map((item) => (isJsonObject(item) ? plain(item) : item)) : value
  const changed: JsonObject = { ...body }
  for (const field of ['messages', 'system', 'tools']) {
    const value = body[field]
    if (value !== undefined) changed[field] = each(value)
  }
  return { plain: changed, isEager }
}

function withoutScope({ scope: _, ...rest }: JsonObject): JsonObject {
  return rest
}
