/** All dashboard routes as one application. */
import { Elysia } from 'elysia'
import type { OperatorKeys } from '@/accounts/management/operator-keys'
import { cookiePrefix } from '@/console/auth/visitor'
import type { HttpDeps } from '@/http/deps'
import type { AdminDeps } from '@/people/administration/context'
import { type AlertDeps, unsubscribeRoutes } from '@/people/alerts/link-routes'
import { ACCOUNT_OPERATIONS, ADMINISTRATION, PERSONAL_OPERATIONS, VISITOR_OPERATIONS } from '@/people/all-operations'
import type { AuditDeps } from '@/people/audit/operations'
import type { BatchDeps } from '@/people/batches/batches'
import type { BudgetDeps } from '@/people/budgets/budgets'
import type { KeyDeps } from '@/people/keys/keys'
import type { ManagementKeyDeps } from '@/people/management-keys/operations'
import type { MemberDeps } from '@/people/members/operations'
import type { OrderDeps } from '@/people/orders/orders'
import type { TransferDeps } from '@/people/orders/transfers'
import { serveAdministration, serveOperations, serveUnbound } from '@/people/serve'
import type { SettingDeps } from '@/people/settings/operations'
import type { StoredResponseDeps } from '@/people/settings/stored-responses'
import type { SessionDeps } from '@/people/sign-in/visitor'
import type { UsageDeps } from '@/people/usage/operations'
import { type EventsDeps, eventsRoutes } from './events-routes'
import type { GuardDeps } from './guard'
import { modelRoutes } from './model-routes'
import { playgroundRoutes } from './playground-routes'

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
  ManagementKeyDeps & { operatorKeys: OperatorKeys } & AuditDeps &
  UsageDeps &
  BatchDeps &
  StoredResponseDeps &
  EventsDeps

/** Name of the session cookie for the address `publicUrl`. */
export function sessionCookieName(publicUrl: string | undefined): string {
  return `${cookiePrefix(publicUrl)}.session_token`
}

/** Mounts `/dashboard/api`, each group with its own guard. `chat` has the dependencies of the playground. */
export function dashboardRoutes(deps: DashboardDeps & { chat: HttpDeps }) {
  return new Elysia({ name: 'dashboard-routes' })
    .use(serveOperations(deps, ACCOUNT_OPERATIONS))
    .use(serveUnbound(deps, PERSONAL_OPERATIONS, VISITOR_OPERATIONS))
    .use(unsubscribeRoutes(deps))
    .use(modelRoutes(deps))
    .use(playgroundRoutes(deps))
    .use(eventsRoutes(deps))
    .use(serveAdministration(deps, ADMINISTRATION))
}
