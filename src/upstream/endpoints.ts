/** The address and the headers of one call to a provider. What differs between providers is their dialects' to say. */
import type { Provider, ProviderKey, Target } from '@/catalog/types'
import { assert } from '@/lib/assert'

/** The address of one call for a conversation. */
export function endpointUrl({ provider, model }: Target, stream: boolean): string {
  const { baseUrl, apiVersion, dialect } = provider
  return dialect.url({ baseUrl, apiVersion, model, stream })
}

/** The address of one call for embeddings. */
export function embeddingsUrl({ provider, model }: Target): string {
  const { baseUrl, apiVersion, dialect } = provider
  assert(dialect.embeddingsUrl, `no embeddings at ${provider.name}`)
  return dialect.embeddingsUrl({ baseUrl, apiVersion, model })
}

/** Those of calls that ask for nothing of their own, by the key that they are made with. */
const usual = new WeakMap<ProviderKey, UsualHeaders>()

type UsualHeaders = Pick<Provider, 'headers' | 'dialect'> & { whole: Headers; stream: Headers }

/** The same headers as {@link requestHeaders} for a call without a protocol of its own, made once for each key. Not to be changed. */
export function usualHeaders(provider: Provider, key: ProviderKey, stream: boolean): Headers {
  let made = usual.get(key)
  // A key may be of another catalogue than the provider that a request was planned with.
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
 * All headers that a provider gets. Built from nothing, so that no header of the caller can slip through; `protocol` is what the
 * caller's format has let through of them. `identity` because a compressed stream arrives in lumps and a compressed body can be a bomb.
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
