/** Milliseconds to wait for a lock that others queue behind: more than autovacuum needs to give way, less than a paid request waits. */
export const BRIEF_LOCK_MS = 1_200
