/** A request that is no conversation, and the dependencies of its steps. */
import type { MediaKind } from '@/catalog/types'
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import type { MediaRequest } from '@/formats/media-call'
import type { DrainSlots } from '@/gateway/attempt/drain-slots'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { HoldDeps } from '@/gateway/hold/hold'
import type { TermsDeps } from '@/gateway/hold/terms'
import type { RelayDeps } from '@/gateway/relay/relayed'
import type { Payer } from '@/ledger/outcomes'
import type { StoreWatch } from '@/ledger/store-watch'
import type { RequestLabels } from '@/ledger/usage-record'
import type { RequestLine } from '@/metrics/request-line'
import type { Router } from '@/routing/router'

export type MediaDeps = TermsDeps &
  HoldDeps &
  SettleDeps &
  Pick<RelayDeps, 'metrics' | 'streams'> & {
    router: Pick<Router, 'begin' | 'planMedia'>
    storeWatch: Pick<StoreWatch, 'isClosedTo'>
    drains: DrainSlots
    formats: ReadonlyMap<FormatName, Format>
  }

export type MediaRequestCall = {
  requestId: string
  payer: Payer
  readonly clientAddress: string
  /** The caller's format, in which errors are written. */
  format: Format
  kind: MediaKind
  request: MediaRequest
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
}
