/** Maximum wait for a table lock: long enough for autovacuum to give way, too short for queued paid requests to time out. */
export const BRIEF_LOCK_MS = 1_200
