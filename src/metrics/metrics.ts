/** The interface of the gateway's metrics. It is passed in, so that several gateways in one process stay separate. */
import type { FormatName } from '@/chat/format-name'
import type { Repair } from '@/formats/repairs'
import type { RecordFlag } from '@/ledger/usage-record'
import type { Nano } from '@/lib/money'
import type { RoutingEvent } from '@/routing/failover/routing-events'
import type { EndedAnswer } from './ended-answer'

/** The result of a ledger check; `atMs` is its end, milliseconds since 1970. */
export type DriftReport = { atMs: number; durationMs: number; accounts: number; violations: Record<string, number> }

/** The outcome of a request with an idempotency key. */
export const IDEMPOTENCY_OUTCOMES = ['first', 'replayed', 'in_use', 'reused', 'lost', 'full'] as const
export type IdempotencyOutcome = (typeof IDEMPOTENCY_OUTCOMES)[number]

/** The outcome of a request that accepts a cached answer. `kept`, in addition to `miss`: the request's answer was stored in the cache. */
export const CACHE_OUTCOMES = ['hit', 'miss', 'bypass', 'kept'] as const
export type CacheOutcome = (typeof CACHE_OUTCOMES)[number]

/** Causes for cancelling a started call that are not its provider's fault. */
export const THROWN_AWAY_CAUSES = ['hang_up', 'outrun'] as const
type ThrownAwayCause = (typeof THROWN_AWAY_CAUSES)[number]

/** No method throws, waits, or keeps a reference to its arguments. */
export interface Metrics {
  answered(answer: EndedAnswer): void
  /** No answer began. `model` is the client's text; undefined if it wasn't read. */
  refused(format: FormatName, model: string | undefined, status: number): void
  /** A call was cancelled: its client disconnected, or another call was faster. `cost` may be unknown. */
  thrownAway(provider: string, cause: ThrownAwayCause, cost: Nano | undefined): void
  repaired(provider: string, repair: Repair): void
  overhead(milliseconds: number): void
  routed(event: RoutingEvent): void
  idempotent(outcome: IdempotencyOutcome): void
  cached(outcome: CacheOutcome): void
  /** The ledger added a flag to `count` usage records. */
  flagged(flag: RecordFlag, count: number): void
  settlementFailed(): void
  renewalFailed(): void
  drift(report: DriftReport): void
}
