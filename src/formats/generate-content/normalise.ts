/** Normalises the spelling variants of clients (snake_case, single values instead of lists, null). Callers' own data stay unchanged. */
import { invalidRequest } from '@/chat/error'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** The body with known keys in camelCase, and lists instead of single values. Shares unchanged parts; never changes `body`. */
export function normaliseRequest(body: JsonObject): JsonObject {
  return withLists(normaliseKeys(body, REQUEST, '') as JsonObject)
}

/** Normalises the body of `:countTokens`, which may contain a whole request. */
export function normaliseCountTokens(body: JsonObject): JsonObject {
  const normal = withLists(normaliseKeys(body, COUNT_TOKENS, '') as JsonObject)
  const inner = normal.generateContentRequest
  return isJsonObject(inner) ? { ...normal, generateContentRequest: withLists(inner) } : normal
}

/** `contents` as a list: a text or a single content becomes a list of one. */
export function listOfContents(contents: JsonValue | undefined): JsonValue | undefined {
  if (typeof contents === 'string') return [{ role: 'user', parts: [{ text: contents }] }]
  if (isJsonObject(contents)) return [withPartList(contents)]
  return Array.isArray(contents) ? mapShared(contents, withPartList) : contents
}

/** `systemInstruction` as a content: a text, a part or a list of parts is wrapped. */
export function contentOfSystem(system: JsonValue | undefined): JsonValue | undefined {
  if (typeof system === 'string') return { parts: [{ text: system }] }
  if (Array.isArray(system)) return { parts: system }
  if (isJsonObject(system) && system.parts === undefined && system.text !== undefined) return { parts: [system] }
  return system === undefined ? undefined : withPartList(system)
}

/** The format's keys whose values are objects, or lists of objects, that also have keys of the format. */
type Shape = ReadonlyMap<string, Shape>

function shape(nested: Record<string, Shape> = {}): Shape {
  return new Map(Object.entries(nested))
}

const LEAF = shape()
const MEDIA = { inlineData: LEAF, fileData: LEAF }
const PART = shape({
  ...MEDIA,
  functionCall: LEAF,
  functionResponse: shape({ parts: shape(MEDIA) }),
  executableCode: LEAF,
  codeExecutionResult: LEAF,
})
const CONTENT = shape({ parts: PART })
const REQUEST = shape({
  contents: CONTENT,
  systemInstruction: CONTENT,
  generationConfig: shape({ thinkingConfig: LEAF, imageConfig: LEAF }),
  tools: shape({ functionDeclarations: LEAF }),
  toolConfig: shape({ functionCallingConfig: LEAF }),
  svc: LEAF,
})
const COUNT_TOKENS = shape({ ...Object.fromEntries(REQUEST), generateContentRequest: REQUEST })

const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/

/** `max_output_tokens` becomes `maxOutputTokens`; other names are unchanged. */
export function camelCase(key: string): string {
  return SNAKE_CASE.test(key) ? key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : key
}

function normaliseKeys(value: JsonValue | undefined, wanted: Shape, path: string): JsonValue | undefined {
  if (Array.isArray(value)) return mapShared(value, (item, index) => normaliseKeys(item, wanted, `${path}[${index}]`))
  if (!isJsonObject(value)) return value
  const renamed = needsRenaming(value) ? renameKeys(value, path) : value
  let copy: JsonObject | undefined
  for (const [key, nested] of wanted) {
    const item = renamed[key]
    if (item === undefined) continue
    const normal = normaliseKeys(item, nested, fieldPath(path, key))
    if (normal === item) continue
    copy ??= { ...renamed }
    copy[key] = normal
  }
  return copy ?? renamed
}

function needsRenaming(value: JsonObject): boolean {
  for (const key in value) if (value[key] === null || key.includes('_')) return true
  return false
}

/** The object with its keys in camelCase. A null counts as missing, so `null` in one spelling and a value in the other are one field. */
export function renameKeys(value: JsonObject, path: string): JsonObject {
  const renamed = new Map<string, JsonValue | undefined>()
  for (const [key, item] of Object.entries(value)) {
    if (item === null) continue
    const name = camelCase(key)
    // Two spellings of one field are refused: one could be priced and the other executed.
    if (renamed.has(name)) {
      const field = fieldPath(path, name)
      throw invalidRequest(`${field} is given twice, in two spellings; send it once`, field)
    }
    renamed.set(name, item)
  }
  return Object.fromEntries(renamed)
}

function fieldPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function withLists(body: JsonObject): JsonObject {
  const changes: JsonObject = {}
  const contents = listOfContents(body.contents)
  const system = contentOfSystem(body.systemInstruction)
  const tools = isJsonObject(body.tools) ? [body.tools] : body.tools
  const declared = Array.isArray(tools) ? mapShared(tools, withDeclarationList) : tools
  if (contents !== body.contents) changes.contents = contents
  if (system !== body.systemInstruction) changes.systemInstruction = system
  if (declared !== body.tools) changes.tools = declared
  return Object.keys(changes).length > 0 ? { ...body, ...changes } : body
}

function withPartList(content: JsonValue): JsonValue {
  if (!isJsonObject(content)) return content
  if (isJsonObject(content.parts)) return { ...content, parts: [content.parts] }
  return typeof content.parts === 'string' ? { ...content, parts: [{ text: content.parts }] } : content
}

function withDeclarationList(tool: JsonValue): JsonValue {
  return isJsonObject(tool) && isJsonObject(tool.functionDeclarations)
    ? { ...tool, functionDeclarations: [tool.functionDeclarations] }
    : tool
}

/** Like `map`, but returns the list itself if nothing changed, so that large bodies are not copied. */
function mapShared(list: JsonValue[], change: (item: JsonValue, index: number) => JsonValue | undefined): JsonValue[] {
  let copy: JsonValue[] | undefined
  for (const [index, item] of list.entries()) {
    const changed = change(item, index)
    if (changed === item) continue
    copy ??= list.slice()
    copy[index] = changed as JsonValue
  }
  return copy ?? list
}
