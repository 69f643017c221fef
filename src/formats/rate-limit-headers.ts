/** Rate limits in the headers that most clients read, for the formats that have no others: `x-ratelimit-*`. */
import type { RateLimit, RateLimits } from '@/chat/rate-limits'

/** The headers of those limits that are known. */
export function commonRateLimitHeaders({ requests, tokens }: RateLimits): Record<string, string> {
  const headers: Record<string, string> = {}
  if (requests) tell(headers, 'requests', requests)
  if (tokens) tell(headers, 'tokens', tokens)
  return headers
}

function tell(headers: Record<string, string>, unit: string, { limit, remaining, resetMs }: RateLimit): void {
  headers[`x-ratelimit-limit-${unit}`] = String(limit)
  headers[`x-ratelimit-remaining-${unit}`] = String(remaining)
  headers[`x-ratelimit-reset-${unit}`] = formatDuration(resetMs)
}

/** Like `6ms`, `1.2s` and `1m30s`. */
function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds}ms`
  if (milliseconds < 60_000) return `${milliseconds / 1000}s`
  return `${Math.floor(milliseconds / 60_000)}m${(milliseconds % 60_000) / 1000}s`
}
