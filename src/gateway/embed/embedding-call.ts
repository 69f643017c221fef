/** An embeddings request and the dependencies of its steps. */
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

export type EmbeddingDeps = TermsDeps &
  HoldDeps &
  SettleDeps &
  Pick<RelayDeps, 'metrics'> & {
    router: Pick<Router, 'begin' | 'planEmbedding'>
    storeWatch: Pick<StoreWatch, 'isClosedTo'>
    answerRoom: AnswerRoom
    formats: ReadonlyMap<FormatName, Format>
  }

export type EmbeddingRequestCall = {
  requestId: string
  payer: Payer
  readonly clientAddress: string
  /** The caller's format, with its encoder of answers. */
  format: Format
  embeddings: Embeddings
  request: EmbeddingRequest
  body: JsonObject
  signal: AbortSignal
  onEnd(): void
  line: RequestLine
  readonly onSettled: OpenCharge['onSettled']
  /** When the request arrived, by the wall clock and by the monotonic clock. */
  arrivedAtMs: number
  arrivedMonotonicMs: number
  /** SHA-256 of the request's idempotency key, if it has one. */
  idempotencyKey?: string | undefined
  /** Labels by which the account groups its usage; undefined if the caller sent none. */
  labels?: RequestLabels | undefined
  /** Whether the request is a line of a batch: it has the model's batch price. */
  readonly isBatch?: boolean
}
