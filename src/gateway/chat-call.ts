/** What a chat request carries through the gateway from the door to its usage record. */
import type { Catalog } from '@/catalog/types'
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest } from '@/chat/request'
import type { Format, Framing } from '@/formats/format'
import type { HoldDeps } from '@/gateway/hold/hold'
import type { KeyPermissions } from '@/gateway/hold/key-permissions'
import type { ActiveStreams } from '@/gateway/relay/active-streams'
import type { DrainSlots } from '@/gateway/relay/drain'
import type { SignatureStore } from '@/gateway/relay/signature-store'
import type { Charge } from '@/ledger/charge'
import type { Payer } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { JsonObject } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import type { Metrics } from '@/metrics/metrics'
import type { Router } from '@/routing/router'

/** What the use case needs of the rest of the house. */
export type ChatDeps = HoldDeps & {
  catalog: Catalog
  formats: ReadonlyMap<FormatName, Format>
  router: Router
  streams: ActiveStreams
  signatures: SignatureStore
  drains: DrainSlots
  permissions: KeyPermissions
  metrics: Metrics
  clock: Clock
  logger: Logger
}

/** One decoded, authenticated request. */
export type ChatCall = {
  requestId: string
  payer: Payer
  format: Format
  /** How the client wants a stream framed: the format's own way unless the path said otherwise. */
  framing: Framing
  request: ChatRequest
  body: JsonObject
  bodyBytes: number
  /** Fires when the client goes away. */
  signal: AbortSignal
  /** What the client calls this conversation (`x-svc-session`), so that a tier does not change its model in the middle. */
  sessionName: string | undefined
  /** When the request arrived: wall clock, and monotonic for durations. */
  arrivedAtMs: number
  arrivedMonotonicMs: number
  /** What a complete stream ends in beyond its format's own words; in the framing's text. */
  epilogue?: (answer: SettledAnswer) => string
}

/** What is known of an answer once it is settled. Times are milliseconds since arrival. */
export type SettledAnswer = {
  requestId: string
  model: string
  charge: Charge
  firstTokenMs: number | null
  durationMs: number
}
