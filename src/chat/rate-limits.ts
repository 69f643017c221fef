/** How much of an API key's limits is left: what every format tells its clients in headers of its own. */

/** One limit: its size, the rest of it, and the milliseconds until it is whole again without use. */
export type RateLimit = { limit: number; remaining: number; resetMs: number }

/** Per minute; missing where it is not known. */
export type RateLimits = { requests?: RateLimit; tokens?: RateLimit }
