/** Azure OpenAI with dated API versions. The deployment's name is in the path; for the responses format it is in the body. */
import type { DialectKind } from '@/dialects/dialect'
import type { EndpointCall } from '@/formats/format'

const VERSIONS = { pattern: /^\d{4}-\d{2}-\d{2}(?:-[a-z]+)?$/, example: '2024-10-21' }

export const azureOpenAi: DialectKind = {
  formats: ['chat-completions', 'responses'],
  needsVersion: true,
  create(format, endpoint) {
    const isChat = format === 'chat-completions'
    return {
      ...endpoint,
      name: 'azure-openai',
      versions: VERSIONS,
      credential: { header: 'api-key', prefix: '' },
      url: (call) => (isChat ? deploymentUrl(call, 'chat/completions') : versionedUrl(call, 'responses')),
      ...(endpoint.mediaUrl && { mediaUrl: deploymentUrl }),
      ...(endpoint.embeddingsUrl && { embeddingsUrl: (call) => deploymentUrl(call, 'embeddings') }),
    }
  },
}

type Call = Omit<EndpointCall, 'stream'>

function deploymentUrl(call: Call, operation: string): string {
  return versionedUrl(call, `deployments/${encodeURIComponent(call.model)}/${operation}`)
}

function versionedUrl({ baseUrl, apiVersion = '' }: Call, path: string): string {
  return `${baseUrl}/openai/${path}?api-version=${encodeURIComponent(apiVersion)}`
}
