/** The address and the headers of one call to a provider. What differs between formats is the format's own to say. */
import type { Provider, ProviderKey, Target } from '@/catalog/types'
import type { Format } from '@/formats/format'

/** The address of one call. */
export function endpointUrl({ provider, model }: Target, { endpoint }: Format, stream: boolean): string {
  const { baseUrl, apiVersion } = provider
  return endpoint.url({ baseUrl, apiVersion, model, stream })
}

/**
 * Everything a provider is told in headers. Built from nothing, so that no header of the caller can slip through; `protocol` is what the
 * caller's format has let through of them. `identity` because a compressed stream arrives in lumps and a compressed body can be a bomb.
 */
export function requestHeaders(
  provider: Provider,
  { endpoint }: Format,
  key: ProviderKey,
  stream: boolean,
  protocol?: Readonly<Record<string, string>>,
): Record<string, string> {
  const { header, prefix } = endpoint.credential
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'svc-gateway',
    ...endpoint.headers,
    ...provider.headers,
    ...protocol,
    [header]: prefix + key.secret,
  }
}
