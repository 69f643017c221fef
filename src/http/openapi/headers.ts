/** Response headers in the OpenAPI document. */
import type { Format } from '@/formats/format'

type HeaderObject = { description: string; schema: { type: 'string' | 'integer' | 'number' } }
type Headers = Readonly<Record<string, HeaderObject>>

/** The request id, on every API response. If there is one format, also under the header name that its clients read. */
export function requestIdHeaders(formats: readonly Format[] = []): Headers {
  const others = (formats.length === 1 ? formats : []).flatMap(({ requestIdHeader: name }) =>
    name === undefined ? [] : [[name, text('The same')]],
  )
  return {
    'x-request-id': text('Names the request: for feedback and questions'),
    ...Object.fromEntries(others),
  }
}

/** Headers of errors after which a retry may succeed. */
export const RETRY_AFTER: Headers = {
  'retry-after': { description: 'Seconds until another attempt may succeed', schema: { type: 'integer' } },
}

/** Headers of answers from a provider. */
export const ANSWERED: Headers = {
  'x-svc-model': text('The model that answered'),
  'x-svc-provider': text('The provider that answered'),
  'x-svc-attempts': { description: 'How many calls providers got', schema: { type: 'integer' } },
  'x-svc-route-reason': text('Why this model and provider were chosen'),
  'x-svc-overhead-ms': { description: 'Milliseconds of the gateway itself', schema: { type: 'number' } },
  'x-svc-max-output-tokens': {
    description: 'Where no limit was set: what the credit covers, if less than the model’s own',
    schema: { type: 'integer' },
  },
  'idempotent-replayed': text('`true`: the first answer of this `Idempotency-Key`, again'),
  'x-svc-cache': text('Of a request with `x-svc-cache`: `hit` (free, `age` seconds old), `miss` or `bypass`'),
  'x-svc-tags-ignored': text('What of `x-svc-tags` is no tag'),
  'x-svc-left-out': text('The first eight fields and betas that the provider was not sent'),
}

/** A key's remaining limits, in the format's own headers. */
export function rateLimitHeaders(format: Format): Headers {
  const limit = { limit: 60, remaining: 59, resetMs: 1_000 }
  const sample = format.rateLimitHeaders({ requests: limit, tokens: limit }, 0)
  return Object.fromEntries(
    Object.entries(sample).map(([name, value]) => {
      const type = /^\d+$/.test(value) ? 'integer' : 'string'
      return [name, { description: `Left of a limit of the key, such as \`${value}\``, schema: { type } } as const]
    }),
  )
}

function text(description: string): HeaderObject {
  return { description, schema: { type: 'string' } }
}
