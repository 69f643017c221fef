/** Maximum wait for a table lock: autovacuum releases it sooner, and paid requests, which queue behind the waiter, time out later. */
export const BRIEF_LOCK_MS = 1_200
