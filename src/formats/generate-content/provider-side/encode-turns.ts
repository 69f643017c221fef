/**
 * Turns of the hub as contents. Neighbours of one role become one content. The calls of a model content are answered by
 * exactly as many functionResponse parts, in the order of the calls, in a user content that holds nothing else: providers
 * count the parts. What else the user said there (text, pictures of a result) follows in a content of its own.
 */
import type { ContentBlock, ToolCallBlock, ToolResultBlock, Turn, Warning } from '@/chat/request'
import { encodeMedia } from '@/formats/generate-content/media'
import { ownSignature, signFirstCall, THOUGHT_SIGNATURES_QUIRK } from '@/formats/generate-content/signature'
import { parseArguments } from '@/formats/generate-content/tool-arguments'
import type { JsonObject } from '@/lib/json'
import { encodeToolResult, missingResult, textOfResult } from './encode-tool-results'

/** The quirk of a provider that knows no ids of calls. */
const NO_CALL_IDS_QUIRK = 'no-call-ids'

/** Contents of a request to a provider. Throws a GatewayError `invalid_request` for media that the provider can't take. */
export function encodeContents(turns: readonly Turn[], quirks: ReadonlySet<string>, warnings: Warning[]): JsonObject[] {
  const contents: JsonObject[] = []
  const names = namesOfCalls(turns)
  let openCalls: ToolCallBlock[] = []
  const scope: Scope = { quirks, warnings, names, withIds: !quirks.has(NO_CALL_IDS_QUIRK) }
  for (const group of groupByRole(turns)) {
    if (group.role === 'user') {
      contents.push(...encodeUser(group.content, openCalls, scope))
      openCalls = []
    } else {
      openCalls = group.content.filter((block) => block.type === 'tool-call')
      const parts = encodeModelParts(group.content, scope)
      // A call must follow something the user said; a history that was cut before its first call begins with a call.
      if (contents.length === 0 && openCalls.length > 0) contents.push(userContent([{ text: 'Continue.' }]))
      if (parts.length > 0) contents.push({ role: 'model', parts })
    }
  }
  if (openCalls.length > 0) contents.push(...encodeUser([], openCalls, scope))
  return contents
}

type Group = { role: 'user' | 'model'; content: ContentBlock[] }

type Scope = {
  quirks: ReadonlySet<string>
  warnings: Warning[]
  names: ReadonlyMap<string, string>
  withIds: boolean
}

function groupByRole(turns: readonly Turn[]): Group[] {
  const groups: Group[] = []
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'model' : 'user'
    const content = turn.role === 'system' ? turn.content.map(markAsSystem) : turn.content
    if (content.length === 0) continue
    const last = groups.at(-1)
    if (last?.role === role) for (const block of content) last.content.push(block)
    else groups.push({ role, content: [...content] })
  }
  return groups
}

/** This format has no instructions in the middle of a conversation; marked, the user's turn carries them. */
function markAsSystem(block: ContentBlock): ContentBlock {
  return block.type === 'text' ? { type: 'text', text: `<system>${block.text}</system>` } : block
}

function namesOfCalls(turns: readonly Turn[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const { content } of turns) {
    for (const block of content) if (block.type === 'tool-call') names.set(block.id, block.name)
  }
  return names
}

function encodeUser(content: readonly ContentBlock[], calls: readonly ToolCallBlock[], scope: Scope): JsonObject[] {
  const results = new Map<string, ToolResultBlock>()
  const called = new Set(calls.map((call) => call.id))
  const said: ContentBlock[] = []
  for (const block of content) {
    if (block.type === 'tool-result' && called.has(block.callId) && !results.has(block.callId))
      results.set(block.callId, block)
    else said.push(block)
  }
  const responses: JsonObject[] = []
  const beside: JsonObject[] = []
  for (const { id, name } of calls) {
    const result = results.get(id)
    const encoded = result && encodeToolResult(result, name, scope.withIds, scope.quirks)
    responses.push(encoded?.part ?? missingResult(id, name, scope.withIds))
    beside.push(...(encoded?.beside ?? []))
  }
  const parts = [...beside, ...said.flatMap((block) => encodeUserPart(block, scope))]
  return [responses, parts].filter((list) => list.length > 0).map(userContent)
}

function userContent(parts: JsonObject[]): JsonObject {
  return { role: 'user', parts }
}

function encodeUserPart(block: ContentBlock, scope: Scope): JsonObject[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text === '' ? [] : [{ text: block.text }]
    case 'image':
    case 'audio':
      return [encodeMedia(block, scope.quirks)]
    case 'file':
      return [...(block.context ? [{ text: block.context }] : []), encodeMedia(block, scope.quirks)]
    case 'tool-result':
      return [encodeOrphan(block, scope)]
    default:
      return []
  }
}

/** A result of no call stays readable; as a functionResponse it would make the provider refuse the request. */
function encodeOrphan(result: ToolResultBlock, { names, warnings }: Scope): JsonObject {
  warnings.push({ feature: 'tool-result', detail: `no call ${result.callId} precedes it; sent as text` })
  const name = result.name ?? names.get(result.callId) ?? 'a function'
  return { text: `Result of ${name}: ${textOfResult(result)}` }
}

function encodeModelParts(content: readonly ContentBlock[], scope: Scope): JsonObject[] {
  const parts = content.flatMap((block) => encodeModelPart(block, scope))
  return scope.quirks.has(THOUGHT_SIGNATURES_QUIRK) ? signFirstCall(parts) : parts
}

function encodeModelPart(block: ContentBlock, { quirks, withIds }: Scope): JsonObject[] {
  switch (block.type) {
    case 'text': {
      const thoughtSignature = ownSignature(block.signature)
      if (block.text === '' && thoughtSignature === undefined) return []
      return [{ text: block.text, ...(thoughtSignature !== undefined && { thoughtSignature }) }]
    }
    case 'refusal':
      return block.text === '' ? [] : [{ text: block.text }]
    case 'reasoning': {
      // Thoughts without this format's own proof are another model's: they help nobody and may be refused.
      const thoughtSignature = ownSignature(block.signature)
      return thoughtSignature === undefined ? [] : [{ text: block.text, thought: true, thoughtSignature }]
    }
    case 'tool-call': {
      const thoughtSignature = ownSignature(block.signature)
      const functionCall = {
        ...(withIds && { id: block.id }),
        name: block.name,
        args: parseArguments(block.argumentsText),
      }
      return [{ functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }) }]
    }
    case 'image':
    case 'audio':
    case 'file':
      return [encodeMedia(block, quirks)]
    case 'tool-result':
      return []
  }
}
