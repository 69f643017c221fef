/** All dashboard routes as one application, from which the browser's typed client is derived. */
import { Elysia } from 'elysia'
import type { OperatorKeys } from '@/accounts/management/operator-keys'
import { cookiePrefix } from '@/console/auth/visitor'
import { adminAccountHistoryRoutes } from '@/console/http/administration/account-history-routes'
import { adminAccountRoutes } from '@/console/http/administration/account-routes'
import { adminBooksRoutes } from '@/console/http/administration/books-routes'
import type { AdminDeps } from '@/console/http/administration/context'
import { adminBillRoutes, adminProviderRoutes } from '@/console/http/administration/provider-routes'
import { adminWatchRoutes } from '@/console/http/administration/watch-routes'
import { leakedKeyRoutes } from '@/console/http/keys/leaked-key-routes'
import { type AuditRouteDeps, accountAuditRoutes } from '@/console/http/management/audit-routes'
import { type ManagementKeyRouteDeps, managementKeyRoutes } from '@/console/http/management/key-routes'
import type { SessionDeps } from '@/console/http/session/context'
import { sessionRoutes } from '@/console/http/session/routes'
import type { HttpDeps } from '@/http/deps'
import { type AlertDeps, alertLinkRoutes } from '@/people/alerts/link-routes'
import { ALERT_OPERATIONS } from '@/people/alerts/operations'
import type { BudgetDeps } from '@/people/budgets/budgets'
import { BUDGET_OPERATIONS } from '@/people/budgets/operations'
import type { KeyDeps } from '@/people/keys/keys'
import { KEY_OPERATIONS } from '@/people/keys/operations'
import {
  ANSWER_OPERATIONS,
  INVITATION_OPERATIONS,
  MEMBER_OPERATIONS,
  MEMBER_POLICY_OPERATIONS,
  type MemberDeps,
} from '@/people/members/operations'
import { CREDIT_ADMINISTRATION } from '@/people/orders/admin-operations'
import { ORDER_OPERATIONS } from '@/people/orders/operations'
import type { OrderDeps } from '@/people/orders/orders'
import type { TransferDeps } from '@/people/orders/transfers'
import { serveAdministration, serveOperations, servePersonal } from '@/people/serve'
import { SETTING_OPERATIONS, type SettingDeps } from '@/people/settings/operations'
import { USAGE_OPERATIONS, type UsageDeps } from '@/people/usage/operations'
import { type EventsDeps, eventsRoutes } from './events-routes'
import type { GuardDeps } from './guard'
import { modelRoutes } from './model-routes'
import { playgroundRoutes } from './playground-routes'
import { type StoredResponseDeps, storedResponseViewRoutes } from './stored-response-routes'

export type DashboardDeps = AdminDeps &
  OrderDeps &
  GuardDeps &
  SessionDeps &
  KeyDeps &
  AlertDeps &
  BudgetDeps &
  MemberDeps &
  SettingDeps &
  TransferDeps &
  ManagementKeyRouteDeps & { operatorKeys: OperatorKeys } & AuditRouteDeps &
  UsageDeps &
  StoredResponseDeps &
  EventsDeps

/** Name of the session cookie for the address `publicUrl`. */
export function sessionCookieName(publicUrl: string | undefined): string {
  return `${cookiePrefix(publicUrl)}.session_token`
}

/** Mounts `/dashboard/api`, each group with its own guard. `chat` has the dependencies of the playground. */
export function dashboardRoutes(deps: DashboardDeps & { chat: HttpDeps }) {
  return new Elysia({ name: 'dashboard-routes' })
    .use(sessionRoutes(deps))
    .use(allKeyRoutes(deps))
    .use(allMemberRoutes(deps))
    .use(modelRoutes(deps))
    .use(playgroundRoutes(deps))
    .use(serveOperations(deps, 'usage-routes', USAGE_OPERATIONS))
    .use(eventsRoutes(deps))
    .use(storedResponseViewRoutes(deps))
    .use(serveOperations(deps, 'order-routes', ORDER_OPERATIONS))
    .use(adminRoutes(deps))
}

/** Grouped, since the compiler limits the length of a chain of routes. */
function allKeyRoutes(deps: DashboardDeps) {
  return new Elysia({ name: 'all-key-routes' })
    .use(serveOperations(deps, 'key-routes', KEY_OPERATIONS))
    .use(serveOperations(deps, 'budget-routes', BUDGET_OPERATIONS))
    .use(serveOperations(deps, 'alert-routes', ALERT_OPERATIONS))
    .use(alertLinkRoutes(deps))
    .use(leakedKeyRoutes(deps))
}

function allMemberRoutes(deps: DashboardDeps) {
  return new Elysia({ name: 'all-member-routes' })
    .use(serveOperations(deps, 'member-routes', MEMBER_OPERATIONS))
    .use(serveOperations(deps, 'invitation-routes', INVITATION_OPERATIONS))
    .use(servePersonal(deps, 'answer-routes', ANSWER_OPERATIONS))
    .use(serveOperations(deps, 'setting-routes', SETTING_OPERATIONS))
    .use(serveOperations(deps, 'member-policy-routes', MEMBER_POLICY_OPERATIONS))
    .use(managementKeyRoutes(deps))
    .use(accountAuditRoutes(deps))
}

function adminRoutes(deps: AdminDeps) {
  return new Elysia({ name: 'admin-routes' })
    .use(adminAccountRoutes(deps))
    .use(adminAccountHistoryRoutes(deps))
    .use(serveAdministration(deps, 'credit-administration', CREDIT_ADMINISTRATION))
    .use(adminWatchRoutes(deps))
    .use(adminProviderRoutes(deps))
    .use(adminBillRoutes(deps))
    .use(adminBooksRoutes(deps))
}

export type DashboardApi = ReturnType<typeof dashboardRoutes>
