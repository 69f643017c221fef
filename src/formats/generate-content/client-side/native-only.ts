/** Parts of a generate-content request that only providers of the format support. */
import { findMedia } from '@/formats/native-media'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { answerFieldOf } from './decode-schema'
import type { WireRequest } from './wire'

/**
 * Lists the fields of `request` that only providers of this format support. If other providers support a field but not this use of it, the
 * use is added: `tools[1] (googleSearch)`.
 */
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

/** Media types of answers that the hub supports. */
const MIME_TYPES: ReadonlySet<JsonValue | undefined> = new Set([undefined, 'text/plain', 'application/json'])

/** Kinds of content in answers that the hub supports. */
const MODALITIES: ReadonlySet<JsonValue> = new Set(['TEXT', 'IMAGE'])

function nativeConfig(config: JsonObject): string[] {
  const { responseMimeType, responseModalities } = config
  const wantsMore =
    Array.isArray(responseModalities) && responseModalities.some((modality) => !MODALITIES.has(modality))
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

/** Parts with actions of provider-run tools in earlier answers. */
const HOSTED_HISTORY = ['toolCall', 'toolResponse']

/** The {@link HOSTED_HISTORY} parts in a request, such as `contents.toolCall`. */
export function listHostedHistory({ contents }: WireRequest): string[] {
  const parts = contents.flatMap(({ parts = [] }) => parts as readonly JsonValue[]).filter(isJsonObject)
  const kinds = HOSTED_HISTORY.filter((key) => parts.some((part) => part[key] !== undefined))
  return kinds.map((kind) => `contents.${kind}`)
}

/** Images and files inside parts unknown to the hub. */
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
