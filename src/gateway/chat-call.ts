/** What a chat request brings through the door, and what the use case needs of the rest of the house to answer it. */
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import type { HoldDeps } from '@/gateway/hold/hold'
import type { NegotiationDeps } from '@/gateway/hold/negotiation'
import type { ArrivedRequest } from '@/gateway/hold/request-facts'
import type { Client, RelayDeps } from '@/gateway/relay/relayed'
import type { StoreWatch } from '@/ledger/store-watch'
import type { Router } from '@/routing/router'
import type { TierObserver } from '@/usage/tier-observer'

/** All that the steps of the use case need, each of which says what of it. */
export type ChatDeps = NegotiationDeps &
  HoldDeps &
  RelayDeps & {
    router: Pick<Router, 'begin' | 'conversationOf' | 'remember' | 'sessionOf'>
    observer: Pick<TierObserver, 'answered'>
    storeWatch: Pick<StoreWatch, 'isClosedTo'>
    formats: ReadonlyMap<FormatName, Format>
    /** When a stream that nobody has begun is answered with keep-alives; see LATE_AFTER_MS. */
    lateAfterMs: number
  }

/** One decoded, authenticated request: made once, known to every step, and told what becomes of it. */
export type ChatCall = ArrivedRequest &
  Client & {
    /** What the client calls this conversation (`x-svc-session`), so that a tier does not change its model in the middle. */
    readonly sessionName: string | undefined
    /** No answer came; the error was sent inside the stream that had been opened. */
    onLateFailure(error: unknown): void
    readonly onSettled: OpenCharge['onSettled']
    /** Where it comes from. */
    readonly clientAddress: string
    /** What the request leaves in the log. */
    readonly line: OpenCharge['line']
    /** When the request arrived, by the clock that durations are taken from. */
    readonly arrivedMonotonicMs: number
  }
