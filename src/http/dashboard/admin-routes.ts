/** Everything that only administrators may do, behind one prefix; to everybody else none of it exists (404). */
import { Elysia } from 'elysia'
import { adminAccountRoutes } from './admin-account-routes'
import { adminApprovalRoutes } from './admin-approval-routes'
import type { AdminDeps } from './admin-context'
import { adminOrderRoutes } from './admin-order-routes'
import { adminStatementRoutes } from './admin-statement-routes'
import { adminWatchRoutes } from './admin-watch-routes'

/** Mounts `/dashboard/api/admin`. */
export function adminRoutes(deps: AdminDeps) {
  return new Elysia({ name: 'admin-routes' })
    .use(adminAccountRoutes(deps))
    .use(adminOrderRoutes(deps))
    .use(adminStatementRoutes(deps))
    .use(adminApprovalRoutes(deps))
    .use(adminWatchRoutes(deps))
}
