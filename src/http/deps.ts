/** What the routes of the API need, handed in by the composition root. */
import type { Identify } from '@/accounts/identify'
import type { Catalog } from '@/catalog/types'
import type { ChatDeps } from '@/gateway/chat-call'
import type { Ledger } from '@/ledger/ledger'
import type { PrometheusMetrics } from '@/metrics/prometheus'
import type { Router } from '@/routing/router'
import type { Feedback } from '@/usage/feedback'
import type { Reports } from '@/usage/reports'
import type { Unpaid } from './unpaid'

/**
 * A store or duty that readiness depends on. `check` returns why it fails, or undefined. Where it is not required, its
 * failing degrades the service (the books lag) without stopping paid traffic.
 */
export type ReadinessCheck = { name: string; isRequired: boolean; check(): Promise<string | undefined> }

export type HttpDeps = ChatDeps & {
  catalog: Catalog
  ledger: Ledger
  router: Router
  identify: Identify
  unpaid: Unpaid
  reports: Reports
  feedback: Feedback
  maxBodyBytes: number
  maxJsonDepth: number
  /** Shown in the docs as the server's address; the request's own where undefined. */
  publicUrl: string | undefined
  readiness: readonly ReadinessCheck[]
  metrics: PrometheusMetrics
  /** Who may read the metrics: everybody, nobody, or whoever sends the token. */
  metricsAccess: 'open' | 'closed' | { token: string }
  /** True from the first SIGTERM on. */
  isDraining(): boolean
}
