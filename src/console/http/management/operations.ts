import { BUDGET_OPERATIONS } from '@/people/budgets/operations'
import { KEY_OPERATIONS } from '@/people/keys/operations'
import { type ManagementOperation, managed } from '@/people/manage'
import { ORDER_OPERATIONS } from '@/people/orders/operations'
import { SETTING_OPERATIONS } from '@/people/settings/operations'

/** The management API: dashboard routes by other paths, each with a scope. None is for management keys: a key can't make or change one. */
export const OPERATIONS: readonly ManagementOperation[] = [
  ...managed(KEY_OPERATIONS),
  ...managed(BUDGET_OPERATIONS),
  { method: 'GET', path: '/members', scope: 'members:read' },
  { method: 'GET', path: '/members/:userId', scope: 'members:read' },
  { method: 'GET', path: '/members/:userId/credentials', scope: 'members:read' },
  { method: 'PATCH', path: '/members/:userId', scope: 'members:write' },
  { method: 'DELETE', path: '/members/:userId', scope: 'members:write' },
  { method: 'GET', path: '/members/:userId/key-policy', scope: 'members:read' },
  { method: 'PUT', path: '/members/:userId/key-policy', scope: 'members:write' },
  ...managed(SETTING_OPERATIONS),
  { method: 'GET', path: '/invitations', scope: 'members:read' },
  { method: 'POST', path: '/invitations', scope: 'members:write' },
  { method: 'POST', path: '/invitations/:invitationId/resend', scope: 'members:write' },
  { method: 'POST', path: '/invitations/:invitationId/revoke', scope: 'members:write' },
  ...managed(ORDER_OPERATIONS),
  { method: 'GET', path: '/audit', scope: 'audit:read' },
]
