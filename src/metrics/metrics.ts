/**
 * What the gateway tells its metrics: requests answered and refused, retries, drift. Handed in like any dependency, so
 * that two gateways in one process stay apart.
 */
import type { FormatName } from '@/chat/format-name'
import type { FinishKind } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { Repair } from '@/formats/repairs'
import type { Charge, Ending } from '@/ledger/charge'
import type { DifferingCounts, RecordFlag } from '@/ledger/usage-record'
import type { Nano } from '@/lib/money'
import type { RoutingEvent } from '@/routing/failover/routing-events'
import type { RequestLine } from './request-line'

/** One answer that has ended and is settled, as everybody is told of it. `model` and `provider` are names of the catalogue. */
export type EndedAnswer = {
  /** What its request has left in the log so far. */
  line: RequestLine
  /** Calls of providers that it took. */
  attempts: number
  routeReason: string
  format: FormatName
  model: string
  provider: string
  /** What the client got; 499 where it went away. */
  status: number
  ending: Ending
  charge: Charge
  /** What the provider asks of us for it, also where it is free to the caller; undefined where that is not known. */
  providerCost?: Nano | undefined
  /** The provider's counts and ours, where they are far apart. */
  counts?: DifferingCounts | undefined
  /** What the provider counted in classes that have no price here. */
  unknownUsage?: readonly string[] | undefined
  /** The provider's last word on usage, where it said one. */
  usage: Usage | null
  finish: FinishKind | undefined
  /** The provider's own id of the answer and name of the model; empty where it gave none. */
  answeredAs: { id: string; model: string }
  /** Milliseconds from arrival to the first content and to the end. */
  firstTokenMs: number | null
  durationMs: number
}

/** What of it is counted. */
export type CountedAnswer = Omit<EndedAnswer, 'line' | 'attempts' | 'routeReason' | 'usage' | 'finish' | 'answeredAs'>

/** What a ledger check found; `atMs` is when it ended, milliseconds since 1970. */
export type DriftReport = { atMs: number; durationMs: number; accounts: number; violations: Record<string, number> }

/**
 * What became of a request with an idempotency key: the first with it; given an earlier answer again; refused because the first is
 * under way, because the key is another request's, because the answer can't be given again, or because there are too many keys.
 */
export const IDEMPOTENCY_OUTCOMES = ['first', 'replayed', 'in_use', 'reused', 'lost', 'full'] as const
export type IdempotencyOutcome = (typeof IDEMPOTENCY_OUTCOMES)[number]

/** Why a call that was begun came to nothing, and not by its provider's fault. */
export const THROWN_AWAY_CAUSES = ['hang_up', 'outrun'] as const
type ThrownAwayCause = (typeof THROWN_AWAY_CAUSES)[number]

/** No method throws, keeps a reference to what it is given, or waits for anything. */
export interface Metrics {
  answered(answer: CountedAnswer): void
  /** No answer began. `model` is what was asked for, in the client's own words; undefined where that was not read. */
  refused(format: FormatName, model: string | undefined, status: number): void
  /**
   * A call of the provider was begun and thrown away: its client left before the first byte, or another call was faster. `cost` is
   * what that may cost us; undefined where it is not known.
   */
  thrownAway(provider: string, cause: ThrownAwayCause, cost: Nano | undefined): void
  /** An answer of the provider broke the published shape of its format at `repair`, and was put right. */
  repaired(provider: string, repair: Repair): void
  /** Milliseconds of an answer that were not spent waiting for the upstream. */
  overhead(milliseconds: number): void
  routed(event: RoutingEvent): void
  /** A request had an idempotency key. */
  idempotent(outcome: IdempotencyOutcome): void
  /** The ledger added a flag of its own to `count` usage records. */
  flagged(flag: RecordFlag, count: number): void
  /** A settlement or release was sent and not acknowledged. */
  settlementFailed(): void
  /** A round of renewals failed. */
  renewalFailed(): void
  drift(report: DriftReport): void
}
