/** Decodes the tools of a responses request, and the tool choice. */
import { invalidRequest } from '@/chat/error'
import type { Tool, ToolChoice, ToolGrammar, ToolOrigin } from '@/chat/request'
import { CUSTOM_PARAMETERS, describeCustom } from '@/formats/custom-tools'
import { LIMITS } from '@/formats/responses/limits'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { createToolNames, flatName, type ToolNames } from './tool-names'
import { checkItem, typeOfItem, type WireRequest } from './wire'

type PlacedTool = { tool: JsonObject; path: string }

/** `tools` exist in the hub; `others` run at a provider, which knows their type; `dropped` may be omitted for other formats. */
export type DecodedTools = {
  tools: Tool[]
  others: PlacedTool[]
  dropped: PlacedTool[]
  origins: ReadonlyMap<string, ToolOrigin>
}

/** Tools that clients offer in every request, for any model. */
const OFFERED_BY_HABIT = /^(?:web_search|tool_search)(?:_|$)/

/**
 * The request's tools, including tools inside its items. A custom tool becomes a function with one text parameter. A member of a namespace
 * becomes a function with a combined name. Functions in the nested shape of chat-completions are accepted.
 */
export function decodeTools(request: WireRequest): DecodedTools {
  const names = createToolNames()
  const tools = new Map<string, Tool>()
  const unknown: PlacedTool[] = []
  for (const placed of placedTools(request)) {
    const functions = decodeTool(placed, names)
    if (!functions) unknown.push(placed)
    // A tool that is defined again later replaces the earlier one.
    for (const tool of functions ?? []) tools.set(tool.name, tool)
    checkNumber(tools.size + unknown.length)
  }
  const isDropped = ({ tool }: PlacedTool) => tools.size > 0 && isHabit(tool.type) && !isNamed(request, tool.type)
  return {
    tools: [...tools.values()],
    others: unknown.filter((placed) => !isDropped(placed)),
    dropped: unknown.filter(isDropped),
    origins: names.origins(),
  }
}

const NO_ORIGINS: ReadonlyMap<string, ToolOrigin> = new Map()

/** The request's tool choice; undefined if it is missing or the hub lacks it. `origins` finds the tools inside a namespace. */
export function decodeToolChoice(choice: JsonValue | undefined, origins = NO_ORIGINS): ToolChoice | undefined {
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { type: choice }
  if (!isJsonObject(choice)) return undefined
  if (choice.type === 'allowed_tools') return decodeAllowedTools(choice, origins)
  const name = chosenName(choice)
  return name === undefined ? undefined : { type: 'tool', name }
}

function placedTools({ tools, input }: WireRequest): PlacedTool[] {
  const listed = (tools ?? []).map((tool, index) => ({ tool: tool as JsonObject, path: `tools[${index}]` }))
  if (!Array.isArray(input)) return listed
  const added = input.flatMap((item, at) => {
    if (typeOfItem(item) !== 'additional_tools') return []
    const path = `input[${at}]`
    const list = checkItem('additional_tools', item, path).tools
    return list.map((tool, index) => ({ tool: tool as JsonObject, path: `${path}.tools[${index}]` }))
  })
  return added.length > 0 ? [...listed, ...added] : listed
}

function checkNumber(tools: number): void {
  const { maxItems } = LIMITS.tools
  if (tools > maxItems) throw invalidRequest(`tools must have at most ${maxItems} items`, 'tools')
}

/** The functions for a tool; undefined for a tool type that only providers know. */
function decodeTool(placed: PlacedTool, names: ToolNames): Tool[] | undefined {
  switch (placed.tool.type) {
    case 'function':
      return [decodeFunction(placed, names)]
    case 'custom':
      return [decodeCustom(placed, names)]
    case 'namespace':
      return decodeNamespace(placed, names)
    default:
      return undefined
  }
}

function decodeNamespace({ tool: namespace, path }: PlacedTool, names: ToolNames): Tool[] {
  const own = nameOf(namespace, path)
  if (!Array.isArray(namespace.tools)) throw invalidRequest(`${path}.tools must be an array`, `${path}.tools`)
  const members = namespace.tools.map((tool, index) => {
    const at = `${path}.tools[${index}]`
    if (!isJsonObject(tool)) throw invalidRequest(`${at} must be an object`, at)
    return tool.type === 'custom'
      ? decodeCustom({ tool, path: at }, names, own)
      : decodeFunction({ tool, path: at }, names, own)
  })
  const [first, ...rest] = members
  const about = textOf(namespace.description)
  if (!first || !about) return members
  // The namespace's description goes to its first function.
  return [
    { ...first, description: [first.description, `About ${own}: ${about}`].filter(Boolean).join('\n\n') },
    ...rest,
  ]
}

function decodeFunction({ tool, path }: PlacedTool, names: ToolNames, namespace?: string): Tool {
  const definition = isJsonObject(tool.function) ? tool.function : tool
  const { description, parameters, strict } = definition
  const origin = originOf('function', nameOf(definition, path), namespace)
  return {
    name: names.add(origin, path),
    ...(typeof description === 'string' && description !== '' && { description }),
    ...(isJsonObject(parameters) && { parameters: asWritten(parameters) }),
    ...(typeof strict === 'boolean' && { strict }),
  }
}

function decodeCustom({ tool, path }: PlacedTool, names: ToolNames, namespace?: string): Tool {
  const origin = originOf('custom', nameOf(tool, path), namespace)
  const description = describeCustom(textOf(tool.description), grammarOf(tool.format))
  return {
    name: names.add(origin, path),
    ...(description !== '' && { description }),
    parameters: CUSTOM_PARAMETERS,
  }
}

function grammarOf(format: JsonValue | undefined): ToolGrammar | undefined {
  if (!isJsonObject(format) || format.type !== 'grammar') return undefined
  const definition = textOf(format.definition)
  const syntax = textOf(format.syntax)
  return definition ? { definition, ...(syntax !== undefined && { syntax }) } : undefined
}

function originOf(kind: ToolOrigin['kind'], name: string, namespace: string | undefined): ToolOrigin {
  return { kind, name, ...(namespace !== undefined && { namespace }) }
}

function nameOf({ name }: JsonObject, path: string): string {
  if (typeof name === 'string' && name !== '') return name
  throw invalidRequest(`${path}.name must be a non-empty string`, `${path}.name`)
}

function decodeAllowedTools(choice: JsonObject, origins: ReadonlyMap<string, ToolOrigin>): ToolChoice {
  const allowed = Array.isArray(choice.tools) ? choice.tools.filter(isJsonObject) : []
  const names = new Set<string>()
  const namespaces = new Set<unknown>()
  for (const tool of allowed) {
    const name = chosenName(tool)
    if (name !== undefined) names.add(name)
    if (tool.type === 'namespace') namespaces.add(tool.name)
  }
  if (namespaces.size > 0) {
    for (const [name, { namespace }] of origins) if (namespaces.has(namespace)) names.add(name)
  }
  return { type: choice.mode === 'required' ? 'required' : 'auto', names: [...names] }
}

function chosenName(chosen: JsonObject): string | undefined {
  if (chosen.type !== 'function' && chosen.type !== 'custom') return undefined
  const named = isJsonObject(chosen.function) ? chosen.function : chosen
  const name = textOf(named.name)
  return name === undefined ? undefined : flatName(name, textOf(chosen.namespace))
}

function isHabit(type: JsonValue | undefined): boolean {
  return typeof type === 'string' && OFFERED_BY_HABIT.test(type)
}

function isNamed({ tool_choice: choice }: WireRequest, type: JsonValue | undefined): boolean {
  return isJsonObject(choice) && choice.type === type
}
