import type { RateLimit, RateLimits } from '@/chat/rate-limits'

/** Rate limits in this format's headers: `anthropic-ratelimit-*`, with times (from `nowMs`) instead of durations. */
export function rateLimitHeaders({ requests, tokens }: RateLimits, nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {}
  if (requests) tell(headers, 'requests', requests, nowMs)
  if (tokens) tell(headers, 'tokens', tokens, nowMs)
  return headers
}

function tell(
  headers: Record<string, string>,
  unit: string,
  { limit, remaining, resetMs }: RateLimit,
  nowMs: number,
): void {
  headers[`anthropic-ratelimit-${unit}-limit`] = String(limit)
  headers[`anthropic-ratelimit-${unit}-remaining`] = String(remaining)
  headers[`anthropic-ratelimit-${unit}-reset`] = moment(nowMs + resetMs)
}

/** A time in RFC 3339 in whole seconds, rounded up so that a client never retries too early. */
function moment(ms: number): string {
  return `${new Date(Math.ceil(ms / 1000) * 1000).toISOString().slice(0, -'.000Z'.length)}Z`
}
