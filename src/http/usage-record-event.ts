import { inputTokens } from '@/chat/usage'
import type { SettledAnswer } from '@/ledger/charge'
import { formatUsd, ZERO_NANO } from '@/lib/money'

/** The event `usage_record`: an answer's facts and exact cost. It follows `[DONE]`, where this format's libraries stop reading. */
export function usageRecordEvent({ requestId, model, charge, firstTokenMs, durationMs }: SettledAnswer): string {
  const isCharged = charge.kind === 'charge'
  const data = {
    request_id: requestId,
    model,
    cost_usd: formatUsd(isCharged ? charge.cost : ZERO_NANO),
    input_tokens: isCharged ? inputTokens(charge.usage) : 0,
    cached_tokens: isCharged ? charge.usage.cacheRead : 0,
    output_tokens: isCharged ? charge.usage.output : 0,
    reasoning_tokens: isCharged ? charge.usage.reasoning : 0,
    tools: isCharged
      ? (charge.tools ?? []).map(({ name, uses, cost }) => ({ name, uses, cost_usd: formatUsd(cost) }))
      : [],
    rule: isCharged ? charge.rule : null,
    first_token_ms: firstTokenMs,
    duration_ms: durationMs,
  }
  return `event: usage_record\ndata: ${JSON.stringify(data)}\n\n`
}
