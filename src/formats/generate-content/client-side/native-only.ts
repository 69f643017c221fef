/** What of a generate-content request only a provider of the same format can do. */
import { findMedia } from '@/formats/native-media'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { answerFieldOf } from './decode-schema'
import type { WireRequest } from './wire'

/** The fields at fault, each with what it is where the field alone does not say: `tools[1] (googleSearch)`. */
export function listNativeOnly(request: WireRequest): string[] {
  const { cachedContent, continuationToken, generationConfig, tools, contents } = request as WireRequest & JsonObject
  return [
    ...(cachedContent === undefined ? [] : ['cachedContent']),
    ...(continuationToken === undefined ? [] : ['continuationToken']),
    ...nativeConfig(generationConfig ?? {}),
    ...(tools ?? []).flatMap(nativeTools),
    ...contents.flatMap((content, index) => nativeParts(content.parts ?? [], `contents[${index}]`)),
  ]
}

/** Media types of answers that the hub has words for. */
const MIME_TYPES: ReadonlySet<JsonValue | undefined> = new Set([undefined, 'text/plain', 'application/json'])

function nativeConfig(config: JsonObject): string[] {
  const { responseMimeType, responseModalities } = config
  const wantsMore = Array.isArray(responseModalities) && responseModalities.some((modality) => modality !== 'TEXT')
  return [
    ...(MIME_TYPES.has(responseMimeType) || answerFieldOf(config) !== undefined
      ? []
      : [`generationConfig.responseMimeType (${responseMimeType})`]),
    ...(wantsMore ? ['generationConfig.responseModalities'] : []),
  ]
}

/** Everything in a tool except functions runs at the provider. */
function nativeTools(tool: JsonObject, index: number): string[] {
  return Object.keys(tool)
    .filter((key) => key !== 'functionDeclarations' && tool[key] !== undefined)
    .map((key) => `tools[${index}] (${key})`)
}

const KNOWN_PARTS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'thoughtSignature',
]

/** What tools of a provider did in earlier answers. */
const HOSTED_HISTORY = ['toolCall', 'toolResponse']

/** The kinds of {@link HOSTED_HISTORY} that a request holds, e.g. `contents.toolCall`. */
export function listHostedHistory({ contents }: WireRequest): string[] {
  const parts = contents.flatMap(({ parts = [] }) => parts as readonly JsonValue[]).filter(isJsonObject)
  const kinds = HOSTED_HISTORY.filter((key) => parts.some((part) => part[key] !== undefined))
  return kinds.map((kind) => `contents.${kind}`)
}

/** Pictures and files in what parts hold beside words of the hub. */
export function listNativeMedia({ contents }: WireRequest) {
  const parts = contents.flatMap(({ parts = [] }) => parts as readonly JsonValue[]).filter(isJsonObject)
  const unknown = parts.flatMap((part) => Object.entries(part).filter(([key]) => !KNOWN_PARTS.includes(key)))
  return findMedia(
    unknown.map(([, value]) => value),
    'generate-content',
  )
}

const SAYABLE = [...KNOWN_PARTS, ...HOSTED_HISTORY]

function nativeParts(parts: readonly JsonValue[], path: string): string[] {
  return parts.flatMap((part, index) => {
    if (!isJsonObject(part) || SAYABLE.some((key) => part[key] !== undefined)) return []
    const [kind] = Object.keys(part)
    return kind === undefined ? [] : [`${path}.parts[${index}] (${kind})`]
  })
}
