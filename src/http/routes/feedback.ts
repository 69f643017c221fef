/** The endpoint for customers' ratings of an answer, up or down, by request id. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError, invalidRequest } from '@/chat/error'
import { authenticate } from '@/http/auth'
import { readJsonBody } from '@/http/body'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi/operation'
import { NO_SNIFFING, openToPage } from '@/http/pages'
import { requireActiveKey } from '@/http/require-active-key'
import { oneOf } from '@/lib/schemas'
import { FEEDBACK_DAYS } from '@/usage/feedback'

const Rating = oneOf(['up', 'down'])
const FeedbackBody = Type.Object({
  request_id: Type.String({ description: 'The `x-request-id` of the answer' }),
  rating: Rating,
})
const FeedbackTaken = Type.Object({ request_id: Type.String(), rating: Rating })

/** The size limit of a body, enough for two short values. */
const MAX_FEEDBACK_BYTES = 4_096

export function feedbackRoutes(deps: HttpDeps) {
  return new Elysia({ name: 'feedback-routes' }).post('/v1/feedback', ({ request }) => takeFeedback(deps, request), {
    parse: 'none',
    detail: operation({
      tag: 'Usage',
      summary: 'Say whether an answer was good',
      description:
        'Free. For requests of the account (by a key of a developer: of those that they see), from a few seconds after the answer ended and for ' +
        `${FEEDBACK_DAYS} days. The last rating of a request counts, once; nothing but counters comes of it.`,
      requestSchema: FeedbackBody,
      responseSchema: FeedbackTaken,
      errors: [400, 401, 403, 404, 413, 415, 429, 503],
    }),
  })
}

async function takeFeedback(deps: HttpDeps, request: Request): Promise<Response> {
  const payer = await authenticate(deps, request)
  deps.unpaid.answer(payer)
  await requireActiveKey(deps, payer, sentFrom(deps, request))
  const { json } = await readJsonBody(request, { ...deps, maxBodyBytes: MAX_FEEDBACK_BYTES })
  const { request_id: requestId, rating } = json
  if (typeof requestId !== 'string') throw invalidRequest('request_id: expected the id of a request.', 'request_id')
  if (rating !== 'up' && rating !== 'down') throw invalidRequest('rating: expected up or down.', 'rating')
  const { accountId, keyId } = payer
  const outcome = await deps.feedback.rate({ accountId, keyId, requestId, rating })
  if (outcome === 'unknown') {
    const message = `No such request of this account in the last ${FEEDBACK_DAYS} days; an answer is known seconds after its end.`
    throw new GatewayError('not_found', message, { code: 'request_not_found', param: 'request_id' })
  }
  const headers = { 'cache-control': 'no-store', ...NO_SNIFFING }
  return openToPage(request, Response.json({ request_id: requestId, rating }, { headers }))
}
