/** How long anything of ours waits for a lock that others would then wait behind. */

/** Milliseconds: more than an automatic vacuum needs to step aside, less than a paid request waits. */
export const BRIEF_LOCK_MS = 1_200
