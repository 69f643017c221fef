/** Where each format's requests go and how its providers want to be told who calls. */
import type { Provider, ProviderKey, Target } from '@/catalog/types'

/** The protocol version we speak to providers of the messages format: the last one that takes sampling parameters. */
const MESSAGES_VERSION = '2023-06-01'

/** The address of one call. `model` is percent-encoded where it is part of the path. */
export function endpointUrl(target: Target, stream: boolean): string {
  const { provider } = target
  switch (provider.format) {
    case 'chat-completions':
      return `${provider.baseUrl}/chat/completions`
    case 'messages':
      return `${provider.baseUrl}/v1/messages`
    case 'generate-content': {
      const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      const model = target.model.split('/').map(encodeURIComponent).join('/')
      return `${provider.baseUrl}/${provider.apiVersion}/models/${model}:${verb}`
    }
  }
}

/**
 * Everything a provider is told in headers. Built from nothing, so that no header of the caller can slip through.
 * `identity` because a compressed stream arrives in lumps and a compressed body can be a bomb.
 */
export function requestHeaders(provider: Provider, key: ProviderKey, stream: boolean): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'svc-gateway',
    ...provider.headers,
    ...credentialHeaders(provider, key),
  }
}

function credentialHeaders(provider: Provider, key: ProviderKey): Record<string, string> {
  switch (provider.format) {
    case 'chat-completions':
      return { authorization: `Bearer ${key.secret}` }
    case 'messages':
      return { 'x-api-key': key.secret, 'anthropic-version': MESSAGES_VERSION }
    case 'generate-content':
      return { 'x-goog-api-key': key.secret }
  }
}
