/** The longest wait for a lock that other statements would then queue behind. */

/** Longer than autovacuum needs to give way, shorter than a paid request waits. In milliseconds. */
export const BRIEF_LOCK_MS = 1_200
