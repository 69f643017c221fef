/** What a request for embeddings brings through the door, and what the use case needs of the rest of the house to answer it. */
import type { EmbeddingRequest } from '@/chat/embedding'
import type { FormatName } from '@/chat/format-name'
import type { Embeddings } from '@/formats/embeddings'
import type { Format } from '@/formats/format'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { HoldDeps } from '@/gateway/hold/hold'
import type { TermsDeps } from '@/gateway/hold/terms'
import type { RelayDeps } from '@/gateway/relay/relayed'
import type { Payer } from '@/ledger/outcomes'
import type { StoreWatch } from '@/ledger/store-watch'
import type { RequestLabels } from '@/ledger/usage-record'
import type { JsonObject } from '@/lib/json'
import type { RequestLine } from '@/metrics/request-line'
import type { Router } from '@/routing/router'
import type { AnswerRoom } from './answer-room'

/** All that the steps of the use case need, each of which says what of it. */
export type EmbeddingDeps = TermsDeps &
  HoldDeps &
  SettleDeps &
  Pick<RelayDeps, 'metrics'> & {
    router: Pick<Router, 'begin' | 'planEmbedding'>
    storeWatch: Pick<StoreWatch, 'isClosedTo'>
    answerRoom: AnswerRoom
    formats: ReadonlyMap<FormatName, Format>
  }

/** One decoded, authenticated request. */
export type EmbeddingRequestCall = {
  requestId: string
  payer: Payer
  readonly clientAddress: string
  /** The caller's format, and what of it answers. */
  format: Format
  embeddings: Embeddings
  request: EmbeddingRequest
  body: JsonObject
  /** Fires when the client goes away. */
  signal: AbortSignal
  onEnd(): void
  /** What the request leaves in the log. */
  line: RequestLine
  readonly onSettled: OpenCharge['onSettled']
  /** Wall clock, and the clock that durations are taken from. */
  arrivedAtMs: number
  arrivedMonotonicMs: number
  /** SHA-256 of its idempotency key, where it has one. */
  idempotencyKey?: string | undefined
  /** By what its account sorts usage, where its caller said something of it. */
  labels?: RequestLabels | undefined
}
