/** Parts of a chat-completions request that only providers of the format support. */
import type { FileBlock } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import { decodeToolChoice } from './decode-tools'
import type { WireRequest } from './wire'

const KNOWN_OUTPUTS: ReadonlySet<string> = new Set(['text', 'json_object', 'json_schema'])

/** Lists the fields that only this format has, each with its kind, such as `tools[1] (web_search)`. */
export function listNativeOnly(request: WireRequest): string[] {
  const found: string[] = []
  for (const [index, tool] of (request.tools ?? []).entries()) {
    const type = tool.type ?? (tool.custom ? 'custom' : 'function')
    if (type !== (tool.custom ? 'custom' : 'function')) found.push(`tools[${index}] (${shown(type)})`)
  }
  const { tool_choice: choice, response_format: format, modalities } = request
  if (choice !== undefined && choice !== null && !decodeToolChoice(choice)) found.push('tool_choice (of unknown kind)')
  if (format && !KNOWN_OUTPUTS.has(format.type)) found.push(`response_format (${shown(format.type)})`)
  const modality = modalities?.find((candidate) => candidate !== 'text' && candidate !== 'image')
  if (modality !== undefined) found.push(`modalities (${shown(modality)})`)
  if (request.web_search_options) found.push('web_search_options (search by the provider)')
  return found
}

/** Audio answers of the model, which are stored at their provider: other providers only get their text. */
export function listHostedHistory({ messages }: WireRequest): string[] {
  for (const message of messages)
    if (message.role === 'assistant' && (message as JsonObject).audio) return ['messages.audio']
  return []
}

/** The model's audio answers as files of unknown size. */
export function listNativeMedia({ messages }: WireRequest): FileBlock[] {
  const spoken = messages.filter((message) => message.role === 'assistant' && (message as JsonObject).audio)
  return spoken.map(() => ({ type: 'file', source: { type: 'url', url: '' } }))
}

const MAX_SHOWN_CHARS = 40

function shown(word: string): string {
  return word.slice(0, MAX_SHOWN_CHARS)
}
