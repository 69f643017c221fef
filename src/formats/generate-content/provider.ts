/** The paths of generate-content providers, and the quirks that the catalogue can set for encoder and pass-through. */
import type { Endpoint, EndpointCall } from '@/formats/format'

/** What the generate-content encoder and pass-through can do differently for a provider; the catalogue names them. */
export const QUIRKS = {
  /** The provider knows only the OpenAPI subset of JSON Schema, for parameters and for answers. */
  openApiSchema: 'openapi-schema',
  /** The model takes thinkingBudget and not thinkingLevel. */
  thinkingBudget: 'thinking-budget',
  /** The model does not think and refuses thinkingConfig. */
  noThinking: 'no-thinking',
  /** The provider refuses a conversation whose calls lost their signature. */
  thoughtSignatures: 'thought-signatures',
  /** The provider takes media inside a functionResponse. */
  functionResponseParts: 'function-response-parts',
  /** The provider fetches http(s) addresses by itself. */
  fileUri: 'file-uri',
  /** The provider knows no ids of calls. */
  noCallIds: 'no-call-ids',
} as const

const DEFAULT_VERSION = 'v1beta'

/** Where generate-content providers are called: model and verb are in the path, after a version. */
export const endpoint: Endpoint = {
  url,
  embeddingsUrl: (call) => `${modelUrl(call)}:batchEmbedContents`,
  versions: { pattern: /^v[0-9][a-z0-9]*$/, example: DEFAULT_VERSION },
  credential: { header: 'x-goog-api-key', prefix: '' },
  headers: {},
  hasServiceTiers: true,
  sandboxPath: '',
}

function url(call: EndpointCall): string {
  return `${modelUrl(call)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

/** The address of a model, to which a verb is added. */
function modelUrl({ baseUrl, apiVersion = DEFAULT_VERSION, model }: Omit<EndpointCall, 'stream'>): string {
  return `${baseUrl}/${apiVersion}/models/${model.split('/').map(encodeURIComponent).join('/')}`
}
