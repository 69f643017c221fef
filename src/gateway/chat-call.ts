/** A chat request and the dependencies of its steps. */
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

export type ChatDeps = NegotiationDeps &
  HoldDeps &
  RelayDeps & {
    router: Pick<Router, 'begin' | 'conversationOf' | 'remember' | 'sessionOf'>
    observer: Pick<TierObserver, 'answered'>
    storeWatch: Pick<StoreWatch, 'isClosedTo'>
    formats: ReadonlyMap<FormatName, Format>
    /** Time after which a stream that has not begun is kept alive; see LATE_AFTER_MS. */
    lateAfterMs: number
  }

export type ChatCall = ArrivedRequest &
  Client & {
    /** The client's name of the conversation (`x-svc-session`), so that a tier keeps the conversation's model. */
    readonly sessionName: string | undefined
    onLateFailure(error: unknown): void
    readonly onSettled: OpenCharge['onSettled']
    readonly clientAddress: string
    readonly line: OpenCharge['line']
    /** When the request arrived, by the monotonic clock. */
    readonly arrivedMonotonicMs: number
  }
