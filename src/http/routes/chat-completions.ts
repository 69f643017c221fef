/** The endpoint of family 1: `POST /v1/chat/completions` in every spelling that real clients use. */
import { Elysia } from 'elysia'
import { answerChat, type ChatEndpoint, formatNamed } from '@/http/answer-chat'
import type { HttpDeps } from '@/http/deps'
import { INFERENCE_ERRORS, operation } from '@/http/openapi'
import { USAGE_RECORD_HEADER, usageRecordEvent } from '@/http/usage-record-event'

/** The endpoint, at whatever path it is mounted. */
export function chatCompletionsEndpoint(deps: HttpDeps): ChatEndpoint {
  const format = formatNamed(deps, 'chat-completions')
  return { format, line: {}, framing: format.framing }
}

/** Mounts the chat-completions endpoint. */
export function chatCompletionsRoutes(deps: HttpDeps) {
  const endpoint = chatCompletionsEndpoint(deps)
  const withUsageRecord = { ...endpoint, epilogue: usageRecordEvent }
  const answer = ({ request }: { request: Request }) =>
    answerChat(deps, request, request.headers.get(USAGE_RECORD_HEADER) === 'true' ? withUsageRecord : endpoint)
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  return (
    new Elysia({ name: 'chat-completions-routes' })
      .post('/v1/chat/completions', answer, {
        parse: 'none',
        detail: operation({
          tag: 'Inference',
          summary: 'Create a chat completion (family 1)',
          description:
            'Accepts every field of the chat-completions format; fields the gateway has no rule for are passed on. ' +
            'With `stream: true` the answer is server-sent events that end in `data: [DONE]`. With the header ' +
            '`x-svc-usage-record: true` as well, one more event follows, `usage_record`, which says what the answer cost.',
          requestSchema: endpoint.format.requestSchema,
          errors: INFERENCE_ERRORS,
          isRouted: true,
        }),
      })
      // A base address with `/v1` twice, or without.
      .post('/v1/v1/chat/completions', answer, undocumented)
      .post('/chat/completions', answer, undocumented)
  )
}
