/** The states of batches in words, for the pages. */

/** `paused` is the state of a running batch that makes no progress. */
export const BATCH_STATES = ['in_progress', 'paused', 'cancelling', 'completed', 'cancelled', 'expired'] as const
export type BatchState = (typeof BATCH_STATES)[number]

export const PAUSES = ['no_credit', 'key_disabled', 'storage_full'] as const
export type Pause = (typeof PAUSES)[number]

export const STATE_WORDS: Record<BatchState, string> = {
  in_progress: 'In progress',
  paused: 'Paused',
  cancelling: 'Being cancelled',
  completed: 'Completed',
  cancelled: 'Cancelled',
  expired: 'Out of time',
}

export const PAUSE_WORDS: Record<Pause, { title: string; text: string }> = {
  no_credit: {
    title: 'Paused: your credit is used up',
    text: 'The batch goes on by itself once there is credit. Nothing is charged beyond your credit.',
  },
  key_disabled: {
    title: 'Paused: its API key can’t be used',
    text: 'The batch goes on by itself once its key is active again.',
  },
  storage_full: {
    title: 'Paused: the space for batches is full',
    text: 'The batch goes on by itself once older batches or files are deleted or have expired.',
  },
}
