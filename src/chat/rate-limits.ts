/** Remaining rate limits of an API key. Every format sends them in its own headers. */

/** A rate limit, its remaining part, and the milliseconds until all of it is available again if no request comes. */
export type RateLimit = { limit: number; remaining: number; resetMs: number }

/** Rate limits per minute; a limit is missing if it is unknown. */
export type RateLimits = { requests?: RateLimit; tokens?: RateLimit }
