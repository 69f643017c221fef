/** Everything that only administrators may do, behind one prefix; to all others none of it exists (404). */
import { Elysia } from 'elysia'
import { adminAccountHistoryRoutes } from './account-history-routes'
import { adminAccountRoutes } from './account-routes'
import { adminApprovalRoutes } from './approval-routes'
import type { AdminDeps } from './context'
import { adminOrderRoutes } from './order-routes'
import { adminBillRoutes, adminProviderRoutes } from './provider-routes'
import { adminStatementRoutes } from './statement-routes'
import { adminWatchRoutes } from './watch-routes'

/** Mounts `/dashboard/api/admin`. */
export function adminRoutes(deps: AdminDeps) {
  return new Elysia({ name: 'admin-routes' })
    .use(adminAccountRoutes(deps))
    .use(adminAccountHistoryRoutes(deps))
    .use(adminOrderRoutes(deps))
    .use(adminStatementRoutes(deps))
    .use(adminApprovalRoutes(deps))
    .use(adminWatchRoutes(deps))
    .use(adminProviderRoutes(deps))
    .use(adminBillRoutes(deps))
}
