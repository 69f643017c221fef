/** The dependencies of the API's routes, passed in by the composition root. */
import type { Identify } from '@/accounts/identify'
import type { ManagementKeys } from '@/accounts/management/management-keys'
import type { Batches } from '@/batches/batches'
import type { Scope } from '@/batches/types'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import type { ChatDeps } from '@/gateway/chat-call'
import type { EmbeddingDeps } from '@/gateway/handle-embeddings'
import type { MediaDeps } from '@/gateway/handle-media'
import type { Ledger } from '@/ledger/ledger'
import type { Payer } from '@/ledger/outcomes'
import type { SiteBrand } from '@/lib/brand'
import type { PrometheusMetrics } from '@/metrics/prometheus'
import type { Router } from '@/routing/router'
import type { StoredResponses } from '@/stored-responses/stored-responses'
import type { Tracing } from '@/telemetry/tracing'
import type { FailedRequests } from '@/usage/failures/failed-requests'
import type { Feedback } from '@/usage/feedback'
import type { Generations } from '@/usage/generations'
import type { Reports } from '@/usage/reports'
import type { ReportQuery, UsageReport } from '@/usage/usage-report'
import type { AnswerCache } from './answer-cache/answer-cache'
import type { BatchTurns } from './batches/turns'
import type { OperationDeps } from './idempotency/operation'
import type { HashEndUser } from './labels/end-users'
import type { RequestLog } from './request-log/request-log'
import type { OpenShare } from './share/share'
import type { Unpaid } from './unpaid'

/** `check` returns why a store or worker fails, or undefined. If not required, a failure degrades the service, but stops no traffic. */
export type ReadinessCheck = { name: string; isRequired: boolean; check(): Promise<string | undefined> }

export type HttpDeps = ChatDeps &
  EmbeddingDeps &
  MediaDeps & {
    catalog: CatalogSource
    ledger: Ledger
    router: Router
    identify: Identify
    unpaid: Unpaid
    openShare: OpenShare
    /** Dependencies of idempotency keys and cached answers; undefined if no answers may be stored. */
    idempotency: (Pick<OperationDeps, 'claims' | 'finishUnseenMs'> & { cache: AnswerCache }) | undefined
    managementKeys: Pick<ManagementKeys, 'identify'>
    reports: Reports
    generations: Generations
    /** The usage that the key may read; a management key (without `keyId`) reads the usage of the whole account. */
    usageReport(asker: Pick<Payer, 'accountId'> & Partial<Payer>, query: ReportQuery): Promise<UsageReport>
    feedback: Feedback
    storedResponses: StoredResponses
    batches: Batches
    /** The batches and files that a key may read: those that its owner, a member, may read. */
    batchScope(payer: Payer): Promise<Scope>
    batchTurns: BatchTurns
    signatures: { forget(accountId: string, callIds: readonly string[]): Promise<void> }
    failures: Pick<FailedRequests, 'note'>
    hashEndUser: HashEndUser
    /** Number of trusted proxies in front that report the client's address. */
    trustedProxyHops: number
    maxBodyBytes: number
    maxJsonDepth: number
    /** The server's address shown in the docs; undefined: the address that the docs were requested from. */
    publicUrl: string | undefined
    /** The operator's own name, logo, colour and links. */
    brand: SiteBrand
    readiness: readonly ReadinessCheck[]
    metrics: PrometheusMetrics
    requestLog: Pick<RequestLog, 'refused' | 'replayed' | 'answeredFree'>
    /** The metrics of all processes of this gateway as text. Rejects if the collecting process does not answer. */
    exposition(): Promise<string>
    /** The export of spans and metrics; undefined if neither is exported. */
    tracing?: Tracing | undefined
    /** Access to the metrics: for everybody, nobody, or callers with the token. */
    metricsAccess: 'open' | 'closed' | { token: string }
    /** True from the first SIGTERM on: requests are served, but readiness fails. */
    isLeaving(): boolean
    /** True once the shutdown's time for open answers is over: no new work starts. */
    isDraining(): boolean
  }
