/** Milliseconds to wait for a lock in front of a queue: longer than autovacuum needs to release it, shorter than a paid request waits. */
export const BRIEF_LOCK_MS = 1_200
