import type { ChatRequest, Tool, ToolChoice } from '@/chat/request'
import { QUIRKS } from '@/formats/chat-completions/provider'
import { withChoiceOfAny } from '@/formats/chat-completions/tool-calls'
import type { TargetTraits } from '@/formats/format'
import { offeredTools } from '@/formats/openai'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { encodeCache } from './encode-content'

/** Encodes tools and tool choice for a chat-completions provider; empty without tools. Throws if the choice can't be expressed. */
export function encodeTools(request: ChatRequest, traits: TargetTraits): JsonObject & { tools?: JsonObject[] } {
  const { toolChoice, parallelToolCalls } = request
  const isRestricted = traits.quirks.has(QUIRKS.noAllowedTools)
  const offered = offeredTools(request, !isRestricted)
  if (offered.length === 0) return {}
  const own = request.extensions['chat-completions']?.tools
  const fields = {
    tools: [
      ...offered.map((tool) => encodeTool(tool, traits.quirks)),
      ...(Array.isArray(own) ? own.filter(isJsonObject) : []),
    ],
    ...(toolChoice && { tool_choice: encodeToolChoice(toolChoice, isRestricted) }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
  }
  return traits.quirks.has(QUIRKS.toolChoiceAny) ? withChoiceOfAny(fields) : fields
}

function encodeTool(tool: Tool, quirks: ReadonlySet<string>): JsonObject {
  const { name, description, parameters, strict } = tool
  const definition = {
    name,
    ...(description !== undefined && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    ...(strict !== undefined && { strict }),
  }
  return { type: 'function', function: definition, ...encodeCache(tool.cache, quirks) }
}

function encodeToolChoice(choice: ToolChoice, isRestricted: boolean): string | JsonObject {
  if (choice.type === 'none') return 'none'
  if (choice.type === 'tool') return named(choice.name)
  const { type: mode, names } = choice
  if (names === undefined || isRestricted) return mode
  const [only] = names
  if (mode === 'required' && names.length === 1 && only !== undefined) return named(only)
  return { type: 'allowed_tools', allowed_tools: { mode, tools: names.map(named) } }
}

function named(name: string): JsonObject {
  return { type: 'function', function: { name } }
}
