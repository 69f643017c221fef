/** Content of requests and answers in spans, by the GenAI conventions: only if enabled, limited in size, no keys or headers. */
import type { Attributes } from '@opentelemetry/api'
import {
  ATTR_GEN_AI_INPUT_MESSAGES,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_REQUEST_STOP_SEQUENCES,
  ATTR_GEN_AI_SYSTEM_INSTRUCTIONS,
  ATTR_GEN_AI_TOOL_DEFINITIONS,
} from '@opentelemetry/semantic-conventions/incubating'
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import type { ChatRequest, ContentBlock, MediaSource } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import { type JsonValue, parseJson } from '@/lib/json'
import { finishReason } from './attempt-attributes'
import type { AnswerListener } from './tracing'

/** Maximum length of one text and one attribute, in UTF-16 units of JSON. */
const MAX_TEXT_CHARS = 4_096
const MAX_ATTRIBUTE_CHARS = 65_536
/** Maximum characters collected from an answer; the rest is not in the span. */
const MAX_ANSWER_CHARS = 65_536

type Part = { type: string; [name: string]: JsonValue | undefined }
type Message = { role: string; parts: Part[]; finish_reason?: string }

/** The content of a request. A long conversation is cut to its newest messages. */
export function inputContent({ system, turns, tools, sampling }: ChatRequest): Attributes {
  const messages = turns.map(({ role, content }) => ({ role: roleOf(role, content), parts: content.map(partOf) }))
  const definitions = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    ...(description !== undefined && { description: cut(description) }),
    ...(parameters && { parameters: cutJson(parameters) }),
  }))
  return {
    [ATTR_GEN_AI_INPUT_MESSAGES]: newestAsText(messages),
    [ATTR_GEN_AI_SYSTEM_INSTRUCTIONS]: system.length > 0 ? newestAsText(system.map(partOf)) : undefined,
    [ATTR_GEN_AI_TOOL_DEFINITIONS]: definitions.length > 0 ? newestAsText(definitions) : undefined,
    [ATTR_GEN_AI_REQUEST_STOP_SEQUENCES]: sampling.stop?.map(cut),
  }
}

/** The conventions have a separate role for tool results, which are in a user's turn here. */
function roleOf(role: string, content: readonly ContentBlock[]): string {
  return content.length > 0 && content.every(({ type }) => type === 'tool-result') ? 'tool' : role
}

/** Collects an answer, whole or in pieces. */
export function createAnswerContent(): AnswerListener & { attributes(): Attributes } {
  const folder = createFolder()
  let room = MAX_ANSWER_CHARS
  let whole: ChatResponse | undefined

  function observe(event: ChatEvent): void {
    if (event.type === 'image') return
    const text = 'text' in event ? event.text : event.type === 'tool-call-delta' ? event.argumentsText : ''
    if (text.length > room) return
    room -= text.length
    folder.push(event)
  }

  return {
    observe,
    observeResponse(response) {
      whole = response
    },
    attributes: () => ({ [ATTR_GEN_AI_OUTPUT_MESSAGES]: outputText(whole ?? folder.response()) }),
  }
}

function outputText({ choices }: ChatResponse): string | undefined {
  if (choices.length === 0) return undefined
  const messages = choices.map(({ content, finish }) => ({
    role: 'assistant',
    parts: content.map(partOf),
    finish_reason: finishReason(finish.kind),
  }))
  return newestAsText(messages)
}

/** JSON of as many of the last entries as fit into an attribute. */
function newestAsText(entries: readonly (Message | Part)[]): string {
  const texts: string[] = []
  let room = MAX_ATTRIBUTE_CHARS
  for (const entry of entries.toReversed()) {
    const text = JSON.stringify(entry)
    room -= text.length + 1
    if (room < 0) break
    texts.push(text)
  }
  return `[${texts.toReversed().join(',')}]`
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', content: cut(block.text) }
    case 'reasoning':
      return { type: 'reasoning', content: cut(block.text) }
    case 'tool-call':
      return { type: 'tool_call', id: block.id, name: block.name, arguments: argumentsOf(block.argumentsText) }
    case 'tool-result': {
      const texts = block.content.map((inner) => (inner.type === 'text' ? inner.text : `[${inner.type}]`))
      return { type: 'tool_call_response', id: block.callId, response: cut(texts.join('\n')) }
    }
    case 'image':
      return mediaPart('image', block.source)
    case 'file':
      return block.source.type === 'text'
        ? { type: 'text', content: cut(block.source.text) }
        : mediaPart('file', block.source)
    case 'audio':
      return { type: 'audio', mime_type: block.mediaType, base64_chars: block.data.length }
  }
}

/** Images, audio and files are only named, because one of them could exceed the span's size. */
function mediaPart(modality: string, source: MediaSource): Part {
  switch (source.type) {
    case 'base64':
      return { type: modality, mime_type: source.mediaType, base64_chars: source.data.length }
    case 'url':
      return { type: 'uri', modality, uri: cut(source.url) }
    case 'file-id':
      return { type: 'file', modality, file_id: source.id }
  }
}

/** A tool call's arguments: as an object if possible, as the conventions require. */
function argumentsOf(text: string): JsonValue {
  return text.length > MAX_TEXT_CHARS ? cut(text) : (parseJson(text) ?? text)
}

function cutJson(value: JsonValue): JsonValue {
  const text = JSON.stringify(value)
  return text.length > MAX_TEXT_CHARS ? cut(text) : value
}

function cut(text: string): string {
  return text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text
}
