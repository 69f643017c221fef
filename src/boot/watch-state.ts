import type { AppDeps } from '@/app'
import type { ReloadParticipant } from '@/catalog/reload/participant'
import { DEPOSIT_OUTCOMES } from '@/console/orders/deposits/deposit-desk'
import type { HoldKeeper } from '@/gateway/hold/hold-keeper'
import type { OpenJournal } from '@/gateway/hold/settlement-journal'
import type { Settler } from '@/gateway/hold/settler'
import type { ActiveStreams } from '@/gateway/relay/active-streams'
import type { StoreWatch } from '@/ledger/store-watch'
import type { PrometheusMetrics } from '@/metrics/prometheus'
import type { ConnectionSources } from '@/metrics/store-metrics'
import type { FailedRequests } from '@/usage/failures/failed-requests'
import type { Flusher } from '@/usage/flusher'
import type { Mails } from './mails'

type Watched = Pick<AppDeps, 'router' | 'depositDesk'> & {
  metrics: PrometheusMetrics
  settler: Settler
  keeper: HoldKeeper
  streams: ActiveStreams
  failures: FailedRequests
  reloads: ReloadParticipant | undefined
}

type Workers = { mails: Mails; flusher: Flusher; storeWatch: StoreWatch; journal: OpenJournal | undefined }

/** Connects the gauges of one process to the objects that they measure. Call it once, when all parts exist. */
export function watchState(
  deps: Watched,
  { mails, flusher, storeWatch, journal }: Workers,
  connections: ConnectionSources,
): void {
  const { metrics, settler, keeper, streams, router, failures, depositDesk, reloads } = deps
  if (depositDesk) metrics.takesDeposits(depositDesk.provider.name, DEPOSIT_OUTCOMES)
  metrics.watch({
    openStreams: streams.count,
    openHolds: keeper.openCount,
    unacknowledgedSettlements: settler.pendingCount,
    isJournalSound: () => journal?.isSound() ?? true,
    flusher: () => flusher.status(),
    mails: mails.worker.waiting,
    store: storeWatch.state,
    lostFailures: failures.lostCount,
    routing: router.status,
    connections,
    catalog: reloads?.state,
  })
}
