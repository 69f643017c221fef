/** Models in the form of generate-content: in paths and in the list of models. */

import { Type } from '@sinclair/typebox'
import type { ListedModel, ModelListing } from '@/formats/format'
import type { JsonObject } from '@/lib/json'

export const modelListing: ModelListing = {
  field: 'models',
  entrySchema: Type.Object({ name: Type.String(), displayName: Type.String() }),
  encodeModel,
}

/** One entry; its `name` is the resource `models/{id}`, including slashes of the id. */
function encodeModel({ id, aliasOf = id, kind, name, contextLength, maxOutputTokens }: ListedModel): JsonObject {
  return {
    name: `models/${id}`,
    baseModelId: aliasOf,
    version: '1',
    displayName: name,
    inputTokenLimit: contextLength,
    ...(maxOutputTokens !== undefined && { outputTokenLimit: maxOutputTokens }),
    supportedGenerationMethods: verbsOf(kind),
  }
}

/** The verbs for a kind of model; empty if this format has no calls for that kind. */
function verbsOf(kind = 'chat'): string[] {
  if (kind === 'chat') return [...CHAT_VERBS]
  return kind === 'embedding' ? [...EMBEDDING_VERBS] : []
}

/** The verbs in paths of generate-content calls, for chat models and for embedding models. */
const CHAT_VERBS = ['generateContent', 'streamGenerateContent', 'countTokens'] as const
const EMBEDDING_VERBS = ['embedContent', 'batchEmbedContents'] as const
const VERBS = [...CHAT_VERBS, ...EMBEDDING_VERBS] as const
type Verb = (typeof VERBS)[number]

type ModelPath = { model: string; verb: Verb }

const VERSION = /^v1(?:beta\d*|alpha\d*)?$/
const SEPARATOR = /:|%3a/gi

/**
 * Parses `pathname` (no query, percent-encoded) from the right. The last `:` or `%3A` separates the verb; the rest, without version
 * prefixes and `models/`, is the model id, which may contain slashes (bare or `%2F`) and colons. Undefined for an unknown verb, without an
 * id, or with broken percent-encoding.
 */
export function parseModelPath(pathname: string): ModelPath | undefined {
  const path = withoutTrailingSlashes(pathname)
  const separator = path.matchAll(SEPARATOR).toArray().at(-1)
  if (!separator) return undefined
  const verb = VERBS.find((candidate) => candidate === path.slice(separator.index + separator[0].length))
  const resource = percentDecode(path.slice(0, separator.index))
  if (verb === undefined || resource === undefined) return undefined
  const model = modelOfResource(resource)
  return model === '' ? undefined : { model, verb }
}

/** The model id of a resource name such as `/v1beta/models/svc/foo`, `/models/svc/foo` or `/v1/svc/foo`; '' if there is none. */
export function modelOfResource(resource: string): string {
  const segments = resource.split('/').filter((segment) => segment !== '')
  while (segments[0] !== undefined && VERSION.test(segments[0])) segments.shift()
  // In cloud mode, libraries write `publishers/{namespace}/models/{name}` for an id with a slash.
  if (segments[0] === 'publishers' && segments[2] === 'models') segments.splice(2, 1)
  if (segments[0] === 'models' || segments[0] === 'publishers') segments.shift()
  return segments.join('/')
}

function withoutTrailingSlashes(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '/') end--
  return text.slice(0, end)
}

function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
