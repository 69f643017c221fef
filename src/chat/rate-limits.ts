/** How much of an API key's limits is left: what every format tells its clients in headers of its own. */

/** One limit: how much it allows, the rest of it, and the milliseconds until all of it is there again if nothing is used. */
export type RateLimit = { limit: number; remaining: number; resetMs: number }

/** Per minute; missing where it is not known. */
export type RateLimits = { requests?: RateLimit; tokens?: RateLimit }
