/** The endpoints of family 4: `POST /v1/responses` and related ones, in every spelling that clients use. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import type { Format } from '@/formats/format'
import { CountSchema, decodeCountTokens, encodeCountTokens } from '@/formats/responses/index'
import { answerChat, formatNamed } from '@/http/answer-chat'
import { answerCount } from '@/http/answer-count'
import { authenticate } from '@/http/auth'
import type { HttpDeps } from '@/http/deps'
import { errorResponse } from '@/http/errors'
import { exampleModel, QUESTION, SYSTEM, WEATHER, WEATHER_QUESTION, WEATHER_SCHEMA } from '@/http/openapi/example-model'
import { chatOperation, countOperation, type Examples } from '@/http/openapi/operation'
import { openToPage } from '@/http/pages'
import { newRequestId } from '@/http/request-id'
import { openLine, type RequestLine } from '@/metrics/request-line'

/** The status for a WebSocket request. After a 426, clients use plain HTTP at once; after a 404 they would retry. */
const UPGRADE_REQUIRED = 426

export function responsesRoutes(deps: HttpDeps) {
  const format = formatNamed(deps, 'responses')
  const endpoint = { format, route: '/v1/responses', line: {}, framing: format.framing }
  const count = { format, route: '/v1/responses/input_tokens', decode: decodeCountTokens, encode: encodeCountTokens }
  const answer = ({ request }: { request: Request }) => answerChat(deps, request, endpoint)
  const compact = ({ request }: { request: Request }) => refuseCompaction(deps, format, request)
  const answerTokens = ({ request }: { request: Request }) => answerCount(deps, request, count)
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  return (
    new Elysia({ name: 'responses-routes' })
      .post('/v1/responses', answer, {
        parse: 'none',
        detail: chatOperation(format, {
          summary: 'Create a response (family 4)',
          description:
            'With `stream: true` the answer is server-sent events that end in `response.completed`, `response.incomplete` or `response.failed`. ' +
            'There is no WebSocket, no background mode, no conversation object and no compaction.',
          examples: EXAMPLES,
        }),
      })
      .post('/v1/responses/input_tokens', answerTokens, {
        parse: 'none',
        detail: countOperation(format, {
          summary: 'Count the input tokens of a response (family 4)',
          requestSchema: format.requestSchema,
          responseSchema: CountSchema,
          question: { model: MODEL, input: QUESTION },
        }),
      })
      .post('/v1/responses/compact', compact, undocumented)
      .get('/v1/responses', refuseSocket, { detail: { hide: true } })
      // For clients whose path has `/v1` twice, or not at all.
      .post('/v1/v1/responses', answer, undocumented)
      .post('/v1/v1/responses/input_tokens', answerTokens, undocumented)
      .post('/v1/v1/responses/compact', compact, undocumented)
      .get('/v1/v1/responses', refuseSocket, { detail: { hide: true } })
      .post('/responses', answer, undocumented)
      .post('/responses/input_tokens', answerTokens, undocumented)
      .post('/responses/compact', compact, undocumented)
      .get('/responses', refuseSocket, { detail: { hide: true } })
  )

  function refuseSocket({ request }: { request: Request }): Response {
    if (!request.headers.has('upgrade')) {
      throw new GatewayError('method_not_allowed', 'Use POST: a response is created here.', {
        headers: { allow: 'POST' },
      })
    }
    const error = new GatewayError('invalid_request', 'WebSocket is not supported. Use POST with stream: true.', {
      code: 'websocket_not_supported',
    })
    const line = openRefusal(deps, format, request, endpoint.route)
    deps.requestLog.refused(line, request, error, UPGRADE_REQUIRED)
    const { body, headers } = format.encodeError(error, line.requestId)
    return Response.json(body, { status: UPGRADE_REQUIRED, headers: { ...headers, connection: 'close' } })
  }
}

async function refuseCompaction(deps: HttpDeps, format: Format, request: Request): Promise<Response> {
  const line = openRefusal(deps, format, request, '/v1/responses/compact')
  try {
    line.payer = await authenticate(deps, request)
    deps.unpaid.answer(line.payer)
    throw new GatewayError(
      'invalid_request',
      'Conversations cannot be compacted here. Ask for a summary in a request.',
      {
        code: 'unsupported_endpoint',
      },
    )
  } catch (error) {
    const response = errorResponse(error, format, line.requestId, deps.logger)
    deps.requestLog.refused(line, request, error, response.status)
    return openToPage(request, response)
  }
}

function openRefusal(deps: HttpDeps, { name: format }: Format, { signal }: Request, route: string): RequestLine {
  const arrivedMonotonicMs = deps.clock.monotonic()
  return openLine('chat', format, route, { requestId: newRequestId(), arrivedMonotonicMs, signal })
}

const MODEL = exampleModel()
const EXAMPLES: Examples = {
  text: { summary: 'A question', value: { model: MODEL, input: QUESTION, max_output_tokens: 200 } },
  stream: {
    summary: 'The answer as it is written',
    value: { model: MODEL, input: QUESTION, max_output_tokens: 200, stream: true },
  },
  tools: {
    summary: 'A function that the model may call',
    value: {
      model: exampleModel('tools'),
      instructions: SYSTEM,
      input: [{ role: 'user', content: WEATHER_QUESTION }],
      tools: [{ type: 'function', ...WEATHER, parameters: WEATHER_SCHEMA }],
      max_output_tokens: 200,
    },
  },
}
