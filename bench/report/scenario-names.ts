/** Names of what is measured otherwise than by sending the same traffic to every server, as rows and goals are kept by them. */

export const OPEN_STREAMS = 'open-streams'
export const STOPPED = 'stopped-readers'
export const FLUSHER = 'flusher'
export const COLD = 'cold-keys'
export const IDLE = 'idle'
export const MEMORY = 'memory-after'
export const START = 'start'
