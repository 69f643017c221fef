/** The rest of an API key's rate limits, which every format sends in its own headers. */

/** A limit: its size, the rest of it, and the milliseconds until it is fully available again if unused. */
export type RateLimit = { limit: number; remaining: number; resetMs: number }

/** Per minute; missing if unknown. */
export type RateLimits = { requests?: RateLimit; tokens?: RateLimit }
