/** How long anything of ours waits for a lock that others would then wait behind. */

/**
 * Milliseconds. More than a second: after that Postgres ends an automatic vacuum that stands in the way. Less than a paid request waits
 * for the history: who asks for the whole of a table while a dump reads it holds up everybody who comes later.
 */
export const BRIEF_LOCK_MS = 1_200
