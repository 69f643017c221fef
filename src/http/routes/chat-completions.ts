/** Family 1: `POST /v1/chat/completions`. */
import { Elysia } from 'elysia'
import { ChatCompletionsRequest } from '@/formats/chat-completions/client-side/wire'
import { answerChat, formatNamed } from '@/http/answer-chat'
import type { HttpDeps } from '@/http/deps'
import { INFERENCE_ERRORS, operation } from '@/http/openapi'
import { RECEIPT_HEADER, receiptEvent } from '@/http/receipt-event'

/** Mounts the chat-completions endpoint. */
export function chatCompletionsRoutes(deps: HttpDeps) {
  const format = formatNamed(deps, 'chat-completions')
  const endpoint = { format, line: {}, framing: format.framing }
  const withReceipt = { ...endpoint, epilogue: receiptEvent }
  const answer = ({ request }: { request: Request }) =>
    answerChat(deps, request, request.headers.get(RECEIPT_HEADER) === 'true' ? withReceipt : endpoint)
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
            '`x-svc-receipt: true` as well, one more event follows, `receipt`, which says what the answer cost.',
          requestSchema: ChatCompletionsRequest,
          errors: INFERENCE_ERRORS,
        }),
      })
      // A base address with `/v1` twice, or without.
      .post('/v1/v1/chat/completions', answer, undocumented)
      .post('/chat/completions', answer, undocumented)
  )
}
