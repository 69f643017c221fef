/** Names of modes, and of what is measured otherwise than by sending the same traffic to every server: rows and goals are kept by them. */

export const OPEN_STREAMS = 'open-streams'
export const STOPPED = 'stopped-readers'
export const FLUSHER = 'flusher'
export const COLD = 'cold-keys'
export const IDLE = 'idle'
export const MEMORY = 'memory-after'
export const START = 'start'

/**
 * `quick` has windows too short to quote, `guard` the scenarios and servers of the ratios that `--check` compares, `full` everything.
 */
export type Mode = 'quick' | 'guard' | 'full'
