import type { ComponentType } from 'react'
import type { Permission } from './account'
import { lazyPage } from './load-page'

export type PageRoute = {
  /** A wouter pattern, such as `/keys/:keyId`; account pages have it below `/a/:accountId`. */
  path: string
  /** `public`: nobody is signed in. `person`: somebody is. `administrator`: the role admin. Other values: a permission in the account. */
  audience: 'public' | 'person' | 'administrator' | Permission
  component: ComponentType
}

/** All pages: path below /dashboard, audience, and file loaded at the first visit. Tried in this order. */
export const PAGES: readonly PageRoute[] = [
  page('/', 'billing.read', () => import('@/people/usage/pages/overview-page').then((module) => module.OverviewPage)),
  page('/keys', 'usage.read', () => import('@/people/keys/pages/keys-page').then((module) => module.KeysPage)),
  page('/keys/:keyId', 'usage.read', () => import('@/people/keys/pages/key-page').then((module) => module.KeyPage)),
  page('/models', 'usage.read', () => import('./pages/models/models-page').then((module) => module.ModelsPage)),
  page('/playground', 'keys.use', () =>
    import('./pages/playground/playground-page').then((module) => module.PlaygroundPage),
  ),
  page('/usage', 'usage.read', () => import('@/people/usage/pages/usage-page').then((module) => module.UsagePage)),
  page('/failures', 'usage.read', () =>
    import('@/people/usage/pages/failures-page').then((module) => module.FailuresPage),
  ),
  page('/batches', 'usage.read', () => import('@/people/batches/pages').then((module) => module.BatchesPage)),
  page('/batches/:batchId', 'usage.read', () =>
    import('@/people/batches/batch-page').then((module) => module.BatchPage),
  ),
  page('/credit', 'billing.read', () =>
    import('@/people/orders/pages/credit-page').then((module) => module.CreditPage),
  ),
  page('/credit/statement', 'billing.read', () =>
    import('@/people/usage/pages/statement-page').then((module) => module.StatementPage),
  ),
  page('/credit/orders/:orderId', 'billing.read', () =>
    import('@/people/orders/pages/order-page').then((module) => module.OrderPage),
  ),
  page('/credit/orders/:orderId/receipt', 'billing.read', () =>
    import('@/people/orders/pages/receipt-page').then((module) => module.ReceiptPage),
  ),
  page('/budgets', 'usage.read', () =>
    import('@/people/budgets/pages/budgets-page').then((module) => module.BudgetsPage),
  ),
  page('/alerts', 'usage.read', () => import('@/people/alerts/pages').then((module) => module.AlertsPage)),
  page('/audit', 'audit.read', () => import('@/people/audit/pages').then((module) => module.AuditPage)),
  page('/members', 'members.read', () =>
    import('@/people/members/pages/members-page').then((module) => module.MembersPage),
  ),
  page('/settings', 'limits.raise', () =>
    import('@/people/settings/pages/account-settings-page').then((module) => module.AccountSettingsPage),
  ),
  page('/settings', 'person', () =>
    import('@/people/sign-in/pages/settings-page').then((module) => module.SettingsPage),
  ),
  page('/admin/orders', 'administrator', () =>
    import('@/people/administration/pages/orders-page').then((module) => module.AdminOrdersPage),
  ),
  page('/admin/statements', 'administrator', () =>
    import('@/people/administration/pages/statements-page').then((module) => module.AdminStatementsPage),
  ),
  page('/admin/accounts', 'administrator', () =>
    import('@/people/administration/pages/accounts-page').then((module) => module.AdminAccountsPage),
  ),
  page('/admin/accounts/:accountId', 'administrator', () =>
    import('@/people/administration/pages/account-page').then((module) => module.AdminAccountPage),
  ),
  page('/admin/accounts/:accountId/requests', 'administrator', () =>
    import('@/people/administration/pages/requests-page').then((module) => module.AdminRequestsPage),
  ),
  page('/admin/accounts/:accountId/failures', 'administrator', () =>
    import('@/people/usage/pages/failures-page').then((module) => module.AdminFailuresPage),
  ),
  page('/admin/accounts/:accountId/statement', 'administrator', () =>
    import('@/people/usage/pages/statement-page').then((module) => module.AdminAccountStatementPage),
  ),
  page('/admin/approvals', 'administrator', () =>
    import('@/people/administration/pages/approvals-page').then((module) => module.AdminApprovalsPage),
  ),
  page('/admin/providers', 'administrator', () =>
    import('@/people/administration/pages/providers-page').then((module) => module.AdminProvidersPage),
  ),
  page('/admin/margins', 'administrator', () =>
    import('@/people/administration/pages/margins-page').then((module) => module.AdminMarginsPage),
  ),
  page('/admin/books', 'administrator', () =>
    import('@/people/administration/pages/books-page').then((module) => module.AdminBooksPage),
  ),
  page('/admin/reconciliation', 'administrator', () =>
    import('@/people/administration/pages/reconciliation-page').then((module) => module.AdminReconciliationPage),
  ),
  page('/admin/audit', 'administrator', () =>
    import('@/people/administration/pages/audit-page').then((module) => module.AdminAuditPage),
  ),
  page('/sign-in', 'public', () => import('@/people/sign-in/pages/sign-in-page').then((module) => module.SignInPage)),
  page('/sign-up', 'public', () => import('@/people/sign-in/pages/sign-up-page').then((module) => module.SignUpPage)),
  page('/forgot-password', 'public', () =>
    import('@/people/sign-in/pages/forgot-password-page').then((module) => module.ForgotPasswordPage),
  ),
  page('/reset-password', 'public', () =>
    import('@/people/sign-in/pages/reset-password-page').then((module) => module.ResetPasswordPage),
  ),
  page('/invitation', 'public', () =>
    import('@/people/members/pages/invitation-page').then((module) => module.InvitationPage),
  ),
  page('/confirm-alerts', 'public', () =>
    import('@/people/alerts/confirm-page').then((module) => module.ConfirmAlertsPage),
  ),
  page('/leaked-key', 'public', () => import('@/people/keys/leaked-key-page').then((module) => module.LeakedKeyPage)),
  page('/leaked-key/off', 'public', () =>
    import('@/people/keys/leaked-key-page').then((module) => module.SwitchOffPage),
  ),
  page('/verify-email', 'public', () =>
    import('@/people/sign-in/pages/verify-email-page').then((module) => module.VerifyEmailPage),
  ),
  page('/confirm-address', 'public', () =>
    import('@/people/sign-in/pages/confirm-address-page').then((module) => module.ConfirmAddressPage),
  ),
  page('/undo-address', 'public', () =>
    import('@/people/sign-in/pages/undo-address-page').then((module) => module.UndoAddressPage),
  ),
]

function page(path: string, audience: PageRoute['audience'], load: () => Promise<ComponentType>): PageRoute {
  return { path, audience, component: lazyPage(load) }
}
