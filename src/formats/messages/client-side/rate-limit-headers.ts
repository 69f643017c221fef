/** Rate limits in the headers that clients of this format read: `anthropic-ratelimit-*`, with moments where others have durations. */
import type { RateLimit, RateLimits } from '@/chat/rate-limits'

/** The headers of those limits that are known, as of `nowMs`. */
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

/** RFC 3339 in whole seconds, rounded up: a client that comes back then is not early. */
function moment(ms: number): string {
  return `${new Date(Math.ceil(ms / 1000) * 1000).toISOString().slice(0, -'.000Z'.length)}Z`
}
