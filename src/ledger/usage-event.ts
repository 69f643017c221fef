/** The immutable record that a settle or an expire appends: the only thing that ever becomes a charge in the history. */
import type { FormatName } from '@/chat/format-name'
import type { Usage } from '@/chat/usage'
import type { Nano } from '@/lib/money'

/** Which rule of the billing matrix decided the charge (docs/BILLING.md has one row per rule). */
export type BillingRule =
  | 'usage' // complete answer, the provider's own usage
  | 'counted' // complete answer without usage: counted locally
  | 'broken_usage' // broken after its first byte: the last usage seen
  | 'broken_counted' // likewise, counted locally
  | 'disconnect_usage' // the client went away: the last usage seen, or the exact one after draining
  | 'disconnect_counted' // likewise, counted locally
  | 'expired' // the gateway died: what the last renewal recorded

export const EVENT_FLAGS = ['estimated', 'clamped', 'overrun', 'late', 'expired'] as const
export type EventFlag = (typeof EVENT_FLAGS)[number]

/**
 * What the gateway knows of a request, carried through the ledger unread. The scripts store it as opaque text.
 */
export type UsageRecord = {
  requestId: string
  /** The catalogue model that answered, and the model or tier that was asked for. */
  model: string
  requestedModel: string
  provider: string
  upstreamModel: string
  clientFormat: FormatName
  providerFormat: FormatName
  usage: Usage
  rule: BillingRule
  flags: EventFlag[]
  stream: boolean
  /** HTTP status the client got; 499 where it went away first. */
  status: number
  attempts: number
  startedAtMs: number
  /** Milliseconds from arrival to the first content and to the end; null where there was none. */
  firstTokenMs: number | null
  durationMs: number
}

/** One entry of a shard's usage-event stream. */
export type UsageEvent = {
  /** The hold id; a late correction's is the hold id + `:late`. Unique for ever: the history's dedupe key. */
  eventId: string
  holdId: string
  accountId: string
  keyId: string
  kind: 'settle' | 'expire' | 'late'
  /** What this event adds to the account's charges; of a late correction the difference, which may be negative. */
  cost: Nano
  /** What had been held. */
  held: Nano
  seq: number
  /** The store's clock when it happened, milliseconds since 1970. */
  atMs: number
  flags: EventFlag[]
  record: UsageRecord
}
