/** Replaces tool names that a provider's format refuses. The replacement is always the same, so that prompts stay cached. */
import type { ChatEvent } from '@/chat/event'
import type { ChatRequest, ContentBlock, Tool, ToolChoice, Turn } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import { sha256Hex } from '@/lib/ids'
import type { Format, StreamDecoder, ToolNameRule } from './format'

/** The request for the provider, and the caller's tool names by the provider's tool names. */
type FittedRequest = { request: ChatRequest; callerNames: ReadonlyMap<string, string> }

/** Undefined if all names are accepted; then nothing is copied. */
export function fitToolNames(request: ChatRequest, rule: ToolNameRule): FittedRequest | undefined {
  const names = namesOf(request)
  const strange = [...names].filter((name) => !rule.accepted.test(name))
  if (strange.length === 0) return undefined
  const told = new Map<string, string>()
  const callerNames = new Map<string, string>()
  for (const name of strange) {
    let fitted = shorten(name, rule, 0)
    // The name may already belong to another of the caller's tools.
    for (let more = 1; names.has(fitted) || callerNames.has(fitted); more++) fitted = shorten(name, rule, more)
    told.set(name, fitted)
    callerNames.set(fitted, name)
  }
  return { request: rename(request, (name) => told.get(name) ?? name), callerNames }
}

/** A format that decodes answers with the caller's tool names. */
export function withCallerNames(format: Format, callerNames: ReadonlyMap<string, string>): Format {
  const nameOf = (name: string) => callerNames.get(name) ?? name
  return {
    ...format,
    decodeResponse(body) {
      const response = format.decodeResponse(body)
      return response && renameAnswer(response, nameOf)
    },
    createStreamDecoder: () => renamingDecoder(format.createStreamDecoder(), nameOf),
  }
}

type NameOf = (name: string) => string

const ILLEGAL_CHARACTERS = /[^A-Za-z0-9_-]/g
const DIGEST_CHARS = 8

/** The start of the name and a digest of the whole name; `more` varies the digest. */
function shorten(name: string, { accepted, maxChars }: ToolNameRule, more: number): string {
  const digest = sha256Hex(more === 0 ? name : `${name}#${more}`).slice(0, DIGEST_CHARS)
  const kept = name.replace(ILLEGAL_CHARACTERS, '_').slice(0, maxChars - DIGEST_CHARS - 2)
  const fitted = `${kept}_${digest}`
  return accepted.test(fitted) ? fitted : `_${fitted}`
}

/** All tool names of a request. Names of `tools` come first, so that later calls don't change their replacements. */
function namesOf({ tools, toolChoice, turns }: ChatRequest): Set<string> {
  const names = new Set(tools.map(({ name }) => name))
  if (toolChoice?.type === 'tool') names.add(toolChoice.name)
  if (toolChoice && 'names' in toolChoice) for (const name of toolChoice.names ?? []) names.add(name)
  for (const { content } of turns) {
    for (const block of content) {
      if (block.type === 'tool-call') names.add(block.name)
      else if (block.type === 'tool-result' && block.name !== undefined) names.add(block.name)
    }
  }
  return names
}

function rename(request: ChatRequest, nameOf: NameOf): ChatRequest {
  const renamed = <Named extends Tool | ContentBlock>(named: Named): Named =>
    'name' in named && named.name !== undefined ? { ...named, name: nameOf(named.name) } : named
  return {
    ...request,
    tools: request.tools.map(renamed),
    turns: request.turns.map((turn) => renameTurn(turn, renamed)),
    ...(request.toolChoice && { toolChoice: renameChoice(request.toolChoice, nameOf) }),
  }
}

/** The `name` of a participant is not a tool's name. */
function renameTurn(turn: Turn, renamed: <Named extends ContentBlock>(named: Named) => Named): Turn {
  if (turn.role === 'assistant') return { ...turn, content: turn.content.map(renamed) }
  return turn.role === 'user' ? { ...turn, content: turn.content.map(renamed) } : turn
}

function renameChoice(choice: ToolChoice, nameOf: NameOf): ToolChoice {
  if (choice.type === 'tool') return { ...choice, name: nameOf(choice.name) }
  return 'names' in choice && choice.names ? { ...choice, names: choice.names.map(nameOf) } : choice
}

function renameAnswer(response: ChatResponse, nameOf: NameOf): ChatResponse {
  const choices = response.choices.map((choice) => ({
    ...choice,
    content: choice.content.map((block) =>
      block.type === 'tool-call' ? { ...block, name: nameOf(block.name) } : block,
    ),
  }))
  return { ...response, choices }
}

function renamingDecoder(decoder: StreamDecoder, nameOf: NameOf): StreamDecoder {
  const renamed = (event: ChatEvent): ChatEvent =>
    event.type === 'tool-call-start' ? { ...event, name: nameOf(event.name) } : event
  return {
    ...decoder,
    push: (event, json) => decoder.push(event, json).map(renamed),
    end: () => decoder.end().map(renamed),
  }
}
