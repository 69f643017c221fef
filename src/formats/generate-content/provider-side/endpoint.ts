/** Where generate-content providers are called: model and verb are in the path, after a version. */
import type { Endpoint, EndpointCall } from '@/formats/format'

const DEFAULT_VERSION = 'v1beta'

export const endpoint: Endpoint = {
  url,
  embeddingsUrl: (call) => `${modelUrl(call)}:batchEmbedContents`,
  versions: { pattern: /^v[0-9][a-z0-9]*$/, example: DEFAULT_VERSION },
  credential: { header: 'x-goog-api-key', prefix: '' },
  headers: {},
  sandboxPath: '',
}

function url(call: EndpointCall): string {
  return `${modelUrl(call)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
}

/** The address of a model, to which a verb is added. */
function modelUrl({ baseUrl, apiVersion = DEFAULT_VERSION, model }: Omit<EndpointCall, 'stream'>): string {
  return `${baseUrl}/${apiVersion}/models/${model.split('/').map(encodeURIComponent).join('/')}`
}
