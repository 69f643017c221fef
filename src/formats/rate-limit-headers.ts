/** Rate limits in the common headers `x-ratelimit-*`, for formats without their own. */
import type { RateLimits } from '@/chat/rate-limits'

export function commonRateLimitHeaders({ requests, tokens }: RateLimits): Record<string, string> {
  const headers: Record<string, string> = {}
  // Constant names, because building them for every answer is slower.
  if (requests) {
    headers['x-ratelimit-limit-requests'] = String(requests.limit)
    headers['x-ratelimit-remaining-requests'] = String(requests.remaining)
    headers['x-ratelimit-reset-requests'] = formatDuration(requests.resetMs)
  }
  if (tokens) {
    headers['x-ratelimit-limit-tokens'] = String(tokens.limit)
    headers['x-ratelimit-remaining-tokens'] = String(tokens.remaining)
    headers['x-ratelimit-reset-tokens'] = formatDuration(tokens.resetMs)
  }
  return headers
}

/** Formats a duration like `6ms`, `1.2s` or `1m30s`. */
function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds}ms`
  if (milliseconds < 60_000) return `${milliseconds / 1000}s`
  return `${Math.floor(milliseconds / 60_000)}m${(milliseconds % 60_000) / 1000}s`
}
