/** The headers that answers carry, as the OpenAPI document describes them. */
import type { Format } from '@/formats/format'

type HeaderObject = { description: string; schema: { type: 'string' | 'integer' | 'number' } }
type Headers = Readonly<Record<string, HeaderObject>>

/** On every answer of the API. */
export const REQUEST_ID: Headers = {
  'x-request-id': text('Names the request: for feedback, the list of requests, and questions to us'),
}

/** On errors that a later attempt may not meet. */
export const RETRY_AFTER: Headers = {
  'retry-after': { description: 'Seconds after which another attempt may succeed', schema: { type: 'integer' } },
}

/** On answers that a provider gave. */
export const ANSWERED: Headers = {
  'x-svc-model': text('The model that answered'),
  'x-svc-provider': text('The provider that answered'),
  'x-svc-attempts': { description: 'How many calls to providers were made', schema: { type: 'integer' } },
  'x-svc-route-reason': text('Why this model and provider were chosen'),
  'x-svc-overhead-ms': { description: 'Milliseconds that the gateway itself took', schema: { type: 'number' } },
  'x-svc-max-output-tokens': {
    description: 'Where no limit was set and the credit does not cover the model’s own: the limit that it covers',
    schema: { type: 'integer' },
  },
  'idempotent-replayed': text('`true` where the answer is the first one of an `Idempotency-Key`, again'),
  'x-svc-left-out': text('Fields and betas that the provider was not sent or cannot say: the first eight'),
}

/** What is left of a key's limits, in the format's own headers. */
export function rateLimitHeaders(format: Format): Headers {
  const limit = { limit: 60, remaining: 59, resetMs: 1_000 }
  const sample = format.rateLimitHeaders({ requests: limit, tokens: limit }, 0)
  return Object.fromEntries(
    Object.entries(sample).map(([name, value]) => {
      const type = /^\d+$/.test(value) ? 'integer' : 'string'
      return [
        name,
        { description: `What is left of a limit of the key, such as \`${value}\``, schema: { type } } as const,
      ]
    }),
  )
}

function text(description: string): HeaderObject {
  return { description, schema: { type: 'string' } }
}
