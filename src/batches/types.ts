/** Batches as the rest of the code sees them: requests that run in the background, each line for itself. */
import type { BatchStatus, LineState, PauseReason } from '@/db/batch-schema'
import type { Payer } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'

/** The visible batches and files: all of the account's, or those that this member's keys made. */
export type Scope = { accountId: string; madeBy?: string | undefined }

export type Batch = {
  id: string
  accountId: string
  keyId: string
  madeBy: string | null
  /** The path of the endpoint that answers its lines. */
  endpoint: string
  status: BatchStatus
  inputFileId: string | null
  outputFileId: string | null
  errorFileId: string | null
  metadata: Record<string, string> | null
  /** Lines in all, and by how they ended; the others wait or run. */
  counts: { total: number; succeeded: number; errored: number; canceled: number; expired: number }
  cost: Nano
  /** The most that all lines together could cost when it was made. */
  most: Nano
  /** The models that its lines name, the first ten. */
  models: readonly string[]
  /** Stored bytes of its waiting lines and results. */
  bytes: number
  /** Why it waits although it has lines to run. */
  paused: { reason: PauseReason; message: string } | null
  createdAt: Date
  /** The end of its window: later, no line begins. */
  endsAt: Date
  cancellingAt: Date | null
  endedAt: Date | null
  /** When it is deleted with its results. */
  expiresAt: Date
}

export type NewBatch = {
  payer: Payer
  endpoint: string
  inputFileId?: string
  metadata?: Record<string, string> | undefined
  /** The headers that count for each line, such as usage labels. */
  headers: Record<string, string>
  clientAddress: string
  idPrefix: 'batch' | 'msgbatch'
}

/** `body` is the body of the line's request, as JSON; `most` is the most that it can cost. */
export type NewLine = { customId: string; body: string; model: string; most: Nano }

export type EndedState = Exclude<LineState, 'waiting' | 'running'>

export type LineResult = {
  /** The place of the line in its batch, from 0. */
  place: number
  customId: string
  state: EndedState
  /** HTTP status of its answer; null if it never ran. */
  status: number | null
  requestId: string | null
  /** The answer or the error, as JSON in the format of the batch's endpoint; null if it never ran. */
  body: string | null
  cost: Nano
}

/** A file that was uploaded, or that is made of a batch's results. */
export type BatchFile = {
  id: string
  purpose: 'batch' | 'batch_output'
  name: string
  bytes: number
  createdAt: Date
  expiresAt: Date
  /** Only of a file made of results. */
  batchId: string | null
  /** Whether it has the lines that failed. */
  isErrors: boolean
}

export type Listing = { after?: string | undefined; before?: string | undefined; limit: number }
export type Listed<T> = { items: T[]; hasMore: boolean }
