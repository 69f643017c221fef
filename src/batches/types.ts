/** Types of batches, their lines and their files. A batch is a list of requests (lines) that run independently in the background. */
import type { BatchStatus, LineState, PauseReason } from '@/db/batch-schema'
import type { Payer } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'

/** The batches and files that a caller may see: all of the account, or only those created with the member's keys. */
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
  /** Numbers of lines: in total, and by how they ended. The others wait or run. */
  counts: { total: number; succeeded: number; errored: number; canceled: number; expired: number }
  cost: Nano
  /** Maximum cost of all lines together, at the prices of the batch's creation. */
  most: Nano
  /** The models that its lines name, the first ten. */
  models: readonly string[]
  /** Stored bytes of its waiting lines and results. */
  bytes: number
  /** The reason why the batch waits although it has lines to run; null if it doesn't. */
  paused: { reason: PauseReason; message: string } | null
  createdAt: Date
  /** The end of its window. After it, no line begins. */
  endsAt: Date
  cancellingAt: Date | null
  endedAt: Date | null
  /** The time at which the batch and its results are deleted. */
  expiresAt: Date
}

export type NewBatch = {
  payer: Payer
  endpoint: string
  inputFileId?: string
  metadata?: Record<string, string> | undefined
  /** Headers of the creating request that apply to each line, such as usage labels. */
  headers: Record<string, string>
  clientAddress: string
  idPrefix: 'batch' | 'msgbatch'
}

/** A line to store. `body` is the body of its request, as JSON; `most` is its maximum cost. */
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
  /** The batch of a file of results; null for an upload. */
  batchId: string | null
  /** Whether the file has the failed lines. */
  isErrors: boolean
}

export type Listing = { after?: string | undefined; before?: string | undefined; limit: number }
export type Listed<T> = { items: T[]; hasMore: boolean }
