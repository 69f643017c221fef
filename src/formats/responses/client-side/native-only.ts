/** Parts of a responses request that only providers of the format support. */
import { findMedia } from '@/formats/native-media'
import { type DecodedTools, decodeToolChoice } from './decode-tools'
import { isKnownType, typeOfItem, type WireRequest } from './wire'

const KNOWN_OUTPUTS: ReadonlySet<string> = new Set(['text', 'json_object', 'json_schema'])

/** Items of provider-run tools in earlier answers. Other providers get the conversation without them: refusing the request would end it. */
const HOSTED_HISTORY: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
  'tool_search_call',
  'tool_search_output',
  'program',
  'program_output',
])

/** The parts of a request that only providers of the format support, each with its kind, such as `tools[1] (mcp)`. */
export function listNativeOnly(request: WireRequest, { others }: Pick<DecodedTools, 'others'>): string[] {
  const found = others.map(({ tool, path }) => `${path} (${shown(String(tool.type))})`)
  const { tool_choice: choice, text, input } = request
  if (choice !== undefined && choice !== null && !decodeToolChoice(choice)) found.push('tool_choice (of unknown kind)')
  const format = text?.format?.type
  if (format !== undefined && !KNOWN_OUTPUTS.has(format)) found.push(`text.format (${shown(format)})`)
  if (!Array.isArray(input)) return found
  input.forEach((item, index) => {
    const type = typeOfItem(item)
    if (!isKnownType(type) && !HOSTED_HISTORY.has(type)) found.push(`input[${index}] (${shown(type)})`)
  })
  return found
}

/** The {@link HOSTED_HISTORY} items in a request, such as `input.mcp_call`. */
export function listHostedHistory({ input }: WireRequest): string[] {
  if (!Array.isArray(input)) return []
  const types = new Set(input.map(typeOfItem).filter((type) => HOSTED_HISTORY.has(type)))
  return [...types].map((type) => `input.${type}`)
}

/** Images and files in input items of types that the hub form does not have. */
export function listNativeMedia({ input }: WireRequest) {
  const items = Array.isArray(input) ? input : []
  return findMedia(
    items.filter((item) => !isKnownType(typeOfItem(item))),
    'responses',
  )
}

const MAX_SHOWN_CHARS = 40

function shown(word: string): string {
  return word.slice(0, MAX_SHOWN_CHARS)
}
