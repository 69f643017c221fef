/**
 * Encodes turns as the contents of a generate-content request. Neighbours with the same role become one content. Providers require a user
 * content after a model content with calls: one functionResponse part per call, in the same order, and no other parts. Other content of the
 * user's turn (text, images of a result) follows in a separate content.
 */

import { placeTurns } from '@/chat/places'
import type { ModelBlock, TextBlock, ToolCallBlock, ToolResultBlock, Turn, UserBlock, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/generate-content/provider'
import { signFirstCall, signPictures } from '@/formats/generate-content/signature'
import type { JsonObject } from '@/lib/json'
import {
  type ContentContext,
  encodeAssistantBlock,
  encodeToolResult,
  encodeUserBlock,
  missingResult,
} from './encode-content'
import { PLACES } from './places'

/** The contents of a request. Throws a GatewayError `invalid_request` for media that the provider doesn't accept. */
export function encodeTurns(all: readonly Turn[], traits: TargetTraits, warnings: Warning[]): JsonObject[] {
  const turns = placeTurns(all, PLACES)
  const contents: JsonObject[] = []
  const names = namesOfCalls(turns)
  let openCalls: ToolCallBlock[] = []
  const { quirks } = traits
  const withIds = !quirks.has(QUIRKS.noCallIds)
  const context: ContentContext = { quirks, warnings, names, withIds, parsedChars: 0, parsedValues: 0 }
  for (const group of groupByRole(turns)) {
    if (group.role === 'user') {
      contents.push(...encodeUser(group.content, openCalls, context))
      openCalls = []
    } else {
      openCalls = group.content.filter((block) => block.type === 'tool-call')
      const parts = encodeModelParts(group.content, context)
      // A call must follow a user content. A truncated conversation may begin with a call, so a user content is added.
      if (contents.length === 0 && openCalls.length > 0) contents.push(userContent([{ text: 'Continue.' }]))
      if (parts.length > 0) contents.push({ role: 'model', parts })
    }
  }
  if (openCalls.length > 0) contents.push(...encodeUser([], openCalls, context))
  return contents
}

type Group = { role: 'user'; content: UserBlock[] } | { role: 'model'; content: ModelBlock[] }

function groupByRole(turns: readonly Turn[]): Group[] {
  const groups: Group[] = []
  for (const turn of turns) {
    if (turn.content.length === 0) continue
    const last = groups.at(-1)
    if (turn.role === 'assistant') {
      if (last?.role === 'model') for (const block of turn.content) last.content.push(block)
      else groups.push({ role: 'model', content: [...turn.content] })
      continue
    }
    const content = turn.role === 'system' ? turn.content.map(markAsSystem) : turn.content
    if (last?.role === 'user') for (const block of content) last.content.push(block)
    else groups.push({ role: 'user', content: [...content] })
  }
  return groups
}

/** This format has no instructions inside a conversation, so they become marked text of the user's turn. */
function markAsSystem({ text }: TextBlock): TextBlock {
  return { type: 'text', text: `<system>${text}</system>` }
}

function namesOfCalls(turns: readonly Turn[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const { content } of turns) {
    for (const block of content) if (block.type === 'tool-call') names.set(block.id, block.name)
  }
  return names
}

function encodeUser(
  content: readonly UserBlock[],
  calls: readonly ToolCallBlock[],
  context: ContentContext,
): JsonObject[] {
  const results = new Map<string, ToolResultBlock>()
  const called = new Set(calls.map((call) => call.id))
  const said: UserBlock[] = []
  for (const block of content) {
    if (block.type === 'tool-result' && called.has(block.callId) && !results.has(block.callId))
      results.set(block.callId, block)
    else said.push(block)
  }
  const responses: JsonObject[] = []
  const beside: JsonObject[] = []
  for (const { id, name } of calls) {
    const result = results.get(id)
    const encoded = result && encodeToolResult(result, name, context)
    responses.push(encoded?.part ?? missingResult(id, name, context.withIds))
    beside.push(...(encoded?.beside ?? []))
  }
  const parts = [...beside, ...said.flatMap((block) => encodeUserBlock(block, context))]
  return [responses, parts].filter((list) => list.length > 0).map(userContent)
}

function userContent(parts: JsonObject[]): JsonObject {
  return { role: 'user', parts }
}

function encodeModelParts(content: readonly ModelBlock[], context: ContentContext): JsonObject[] {
  const parts = content.flatMap((block) => encodeAssistantBlock(block, context))
  return context.quirks.has(QUIRKS.thoughtSignatures) ? signFirstCall(signPictures(parts)) : parts
}
