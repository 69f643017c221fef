/** Webhooks by which payment providers report payments, with each provider's signature. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { DepositDesk, DepositOutcome } from '@/console/orders/deposits/deposit-desk'
import { databaseFailure } from '@/db/failure'
import { ERRORS } from '@/http/openapi/errors'
import { oneOf } from '@/lib/schemas'

export type DepositWebhookDeps = { depositDesk: DepositDesk | undefined }

/** Every provider sends its body within this time; unknown clients must not keep a connection open. */
const BODY_TIMEOUT_MS = 10_000
const RETRY_AFTER_SECONDS = 30

const Outcome = Type.Object({
  result: oneOf(
    ['credited', 'unmatched', 'duplicate', 'ignored', 'reversed', 'reinstated', 'waiting', 'kept', 'unknown'],
    {
      description:
        '`unmatched`, `kept`: for an administrator. `duplicate`: known before. `ignored`: not about money. `reversed`: credit ' +
        'taken back. `reinstated`: given back. `waiting`: for what it undoes. `unknown`: of no type we know, and counted.',
    },
  ),
})

const REFUSALS = { [ERRORS]: [401, 404, 413, 500, 503] }

export function depositWebhookRoutes(deps: DepositWebhookDeps) {
  return new Elysia({ name: 'deposit-webhook-routes', tags: ['Webhooks'] }).post(
    '/webhooks/deposits/:provider',
    ({ request, params }) => receive(deps, params.provider, request),
    {
      parse: 'none',
      params: Type.Object({ provider: Type.String({ minLength: 1, maxLength: 40 }) }),
      response: Outcome,
      detail: {
        summary: 'A payment provider reports a deposit',
        description:
          'Signed by the provider, at most 300 seconds old: Stripe by `stripe-signature`, others by `webhook-id`, ' +
          '`webhook-timestamp` and `webhook-signature`. Any number of deliveries of one event credit once. 401: not signed; ' +
          '413: above 64 KiB, of Stripe 512 KiB.',
        security: [],
        ...REFUSALS,
      },
    },
  )
}

async function receive({ depositDesk }: DepositWebhookDeps, provider: string, request: Request) {
  if (!depositDesk || depositDesk.provider.name !== provider) {
    throw new GatewayError('not_found', 'There is no such provider of deposits.')
  }
  const { headers } = request
  if ((await askStores(depositDesk.provider.checkHeaders(headers))) !== 'verified') throw unsigned()
  const body = await readText(request, depositDesk.provider.maxWebhookBytes)
  return { result: resultOf(await askStores(depositDesk.receive(headers, body))) }
}

/** If a store or the provider is unreachable, the event's sender is asked to try again. */
async function askStores<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof GatewayError || databaseFailure(cause) === 'data') throw cause
    throw new GatewayError('overloaded', 'The event could not be stored now. Send it again.', {
      cause,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }
}

/** The raw text of the body, read up to the limit and no further. */
async function readText(request: Request, maxBytes: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const bytes = await readBytes(request, maxBytes)
  try {
    // The signature covers bytes, so the text must encode back to exactly the received bytes.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw unsigned()
  }
}

/** Reads the body within its time limit. A body that is cut off does not match its signature. */
async function readBytes({ body }: Request, maxBytes: number): Promise<Uint8Array> {
  if (!body) return new Uint8Array()
  const reader = body.getReader()
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), BODY_TIMEOUT_MS)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      chunks.push(part.value)
    }
    return Buffer.concat(chunks)
  } finally {
    clearTimeout(timer)
  }
}

function resultOf(outcome: DepositOutcome): typeof Outcome.static.result {
  switch (outcome.kind) {
    case 'refused':
      throw unsigned()
    case 'malformed':
      throw invalidRequest('The event has a valid signature, but not the content that this provider sends.')
    default:
      return outcome.kind
  }
}

/** The same error text for every fault, so that attempts reveal nothing. */
function unsigned(): GatewayError {
  return new GatewayError('invalid_credentials', 'The webhook is not signed as it has to be, or not recently.', {
    code: 'bad_signature',
  })
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('too_large', `The body exceeds the limit of ${maxBytes} bytes.`)
}
