/** Where generate-content providers are called: model and verb are in the path, after a version. */
import type { Endpoint, EndpointCall } from '@/formats/format'

const DEFAULT_VERSION = 'v1beta'

export const endpoint: Endpoint = {
  url,
  hasApiVersion: true,
  credential: { header: 'x-goog-api-key', prefix: '' },
  headers: {},
  sandboxPath: '',
}

function url({ baseUrl, apiVersion = DEFAULT_VERSION, model, stream }: EndpointCall): string {
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return `${baseUrl}/${apiVersion}/models/${model.split('/').map(encodeURIComponent).join('/')}:${verb}`
}
