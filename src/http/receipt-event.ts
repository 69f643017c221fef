/** What a stream of chat completions ends in for those who ask for it: what the answer was, and exactly what it cost. */
import { inputTokens } from '@/chat/usage'
import type { Receipt } from '@/gateway/chat-call'
import { formatUsd, ZERO_NANO } from '@/lib/money'

/** The request header that asks for the event: `x-svc-receipt: true`. */
export const RECEIPT_HEADER = 'x-svc-receipt'

/** The event `receipt`, as text. It follows `[DONE]`, where the libraries of this format have stopped reading. */
export function receiptEvent({ requestId, model, charge, firstTokenMs, durationMs }: Receipt): string {
  const isCharged = charge.kind === 'charge'
  const data = {
    request_id: requestId,
    model,
    cost_usd: formatUsd(isCharged ? charge.cost : ZERO_NANO),
    input_tokens: isCharged ? inputTokens(charge.usage) : 0,
    cached_tokens: isCharged ? charge.usage.cacheRead : 0,
    output_tokens: isCharged ? charge.usage.output : 0,
    reasoning_tokens: isCharged ? charge.usage.reasoning : 0,
    rule: isCharged ? charge.rule : null,
    first_token_ms: firstTokenMs,
    duration_ms: durationMs,
  }
  return `event: receipt\ndata: ${JSON.stringify(data)}\n\n`
}
