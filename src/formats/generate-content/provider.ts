/** URLs of generate-content providers, and the quirks that a catalogue entry can set. */
import type { Endpoint, EndpointCall } from '@/formats/format'
import { isJsonObject, textOf } from '@/lib/json'

export const QUIRKS = {
  /** The provider only supports the OpenAPI subset of JSON Schema, for parameters and answers. */
  openApiSchema: 'openapi-schema',
  /** The model accepts thinkingBudget, but not thinkingLevel. */
  thinkingBudget: 'thinking-budget',
  /** The model does not think and refuses thinkingConfig. */
  noThinking: 'no-thinking',
  /** The provider refuses a conversation whose tool calls lack their signature. */
  thoughtSignatures: 'thought-signatures',
  /** The provider accepts media inside a functionResponse. */
  functionResponseParts: 'function-response-parts',
  /** The provider fetches http(s) URLs itself. */
  fileUri: 'file-uri',
  /** The provider doesn't support call ids. */
  noCallIds: 'no-call-ids',
} as const

const DEFAULT_VERSION = 'v1beta'

export const endpoint: Endpoint = {
  url,
  embeddingsUrl: (call) => `${modelUrl(call)}:batchEmbedContents`,
  versions: { pattern: /^v[0-9][a-z0-9]*$/, example: DEFAULT_VERSION },
  credential: { header: 'x-goog-api-key', prefix: '' },
  headers: {},
  modelList: {
    url: ({ baseUrl, apiVersion = DEFAULT_VERSION }, cursor) =>
      `${baseUrl}/${apiVersion}/models?pageSize=1000${cursor === undefined ? '' : `&pageToken=${encodeURIComponent(cursor)}`}`,
    readPage(json) {
      // An empty page has no list.
      if (!isJsonObject(json) || !Array.isArray(json.models ?? [])) return undefined
      return { entries: Array.isArray(json.models) ? json.models : [], next: textOf(json.nextPageToken) || undefined }
    },
  },
  hasServiceTiers: true,
  sandboxPath: '',
}

function url(call: EndpointCall): string {
  return `${modelUrl(call)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

function modelUrl({ baseUrl, apiVersion = DEFAULT_VERSION, model }: Omit<EndpointCall, 'stream'>): string {
  return `${baseUrl}/${apiVersion}/models/${model.split('/').map(encodeURIComponent).join('/')}`
}
