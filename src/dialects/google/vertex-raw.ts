/** Claude on Vertex AI: messages whose model is in the address, and whose version is in the body. */
import type { FormatName } from '@/chat/format-name'
import type { ProviderError } from '@/chat/provider-error'
import type { DialectKind } from '@/dialects/dialect'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonValue } from '@/lib/json'
import { missingPlace, vertexHost, vertexUrl } from './vertex'

const VERSION_HEADER = 'anthropic-version'
const VERSION = 'vertex-2023-10-16'

export const vertexRaw: DialectKind = {
  formats: ['messages'],
  needsVersion: false,
  needs: missingPlace,
  baseUrl: vertexHost,
  create(_, endpoint, settings) {
    return {
      ...endpoint,
      name: 'vertex-raw',
      versions: { pattern: /^v[0-9][a-z0-9]*$/, example: 'v1' },
      headers: {},
      url: (call) => vertexUrl(call, settings, 'anthropic', call.stream ? 'streamRawPredict' : 'rawPredict'),
      envelope({ model, ...body }) {
        return { body: { anthropic_version: VERSION, ...body }, leftOut: [] }
      },
      protocolHeaders({ [VERSION_HEADER]: version, ...headers }) {
        return headers
      },
      decodeError: (status, _, body) => decodeError(status, body),
    }
  },
}

/** What the model refuses is told in its vendor's words; what the cloud refuses in Google's, which have a status and no type. */
function decodeError(status: number, body: JsonValue | undefined): ProviderError {
  const outer = Array.isArray(body) ? body[0] : body
  const error = isJsonObject(outer) && isJsonObject(outer.error) ? outer.error : {}
  const isGoogles = typeof error.status === 'string' && error.type === undefined
  const speaker: FormatName = isGoogles ? 'generate-content' : 'messages'
  const format = FORMATS.get(speaker)
  assert(format, `no codec for ${speaker}`)
  return format.decodeError(status, body)
}
