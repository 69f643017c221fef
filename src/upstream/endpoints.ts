/** The URL and headers of a call to a provider. Dialects define the differences between providers. */
import type { Provider, ProviderKey, Target } from '@/catalog/types'
import { assert } from '@/lib/assert'

/** The URL of one call for a conversation. */
export function endpointUrl({ provider, model }: Target, stream: boolean): string {
  const { baseUrl, apiVersion, dialect } = provider
  return dialect.url({ baseUrl, apiVersion, model, stream })
}

/** The URL of one call for embeddings. */
export function embeddingsUrl({ provider, model }: Target): string {
  const { baseUrl, apiVersion, dialect } = provider
  assert(dialect.embeddingsUrl, `no embeddings at ${provider.name}`)
  return dialect.embeddingsUrl({ baseUrl, apiVersion, model })
}

/** The URL of one call at `path` below the provider's address, such as `audio/speech`. */
export function mediaUrl({ provider, model }: Target, path: string): string {
  const { baseUrl, apiVersion, dialect } = provider
  assert(dialect.mediaUrl, `no ${path} at ${provider.name}`)
  return dialect.mediaUrl({ baseUrl, apiVersion, model }, path)
}

const usual = new WeakMap<ProviderKey, UsualHeaders>()

type UsualHeaders = Pick<Provider, 'headers' | 'dialect'> & { whole: Headers; stream: Headers }

/** Like {@link requestHeaders} for a call without protocol headers, cached for each key. Must not be changed. */
export function usualHeaders(provider: Provider, key: ProviderKey, stream: boolean): Headers {
  let made = usual.get(key)
  // After a reload, the key may belong to a newer catalogue than the provider.
  if (made?.headers !== provider.headers || made.dialect !== provider.dialect) {
    made = makeUsual(provider, key)
    usual.set(key, made)
  }
  return stream ? made.stream : made.whole
}

function makeUsual(provider: Provider, key: ProviderKey): UsualHeaders {
  const { headers, dialect } = provider
  const whole = new Headers(requestHeaders(provider, key, false))
  return { headers, dialect, whole, stream: new Headers(requestHeaders(provider, key, true)) }
}

/**
 * All headers for a provider. They are built here, so that none of the caller's headers is sent except the allowed ones in `protocol`. The
 * accepted encoding is `identity`: a compressed stream arrives in large chunks, and a compressed body can be a bomb.
 */
export function requestHeaders(
  { dialect, headers }: Provider,
  key: ProviderKey,
  stream: boolean,
  protocol?: Readonly<Record<string, string>>,
): Record<string, string> {
  const { credential } = dialect
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'svc-gateway',
    ...dialect.headers,
    ...headers,
    ...protocol,
    ...(credential && { [credential.header]: credential.prefix + key.secret }),
  }
}
