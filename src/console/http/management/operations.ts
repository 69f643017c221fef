import { BUDGET_OPERATIONS } from '@/people/budgets/operations'
import { KEY_OPERATIONS } from '@/people/keys/operations'
import { type ManagementOperation, managed } from '@/people/manage'
import { INVITATION_OPERATIONS, MEMBER_OPERATIONS, MEMBER_POLICY_OPERATIONS } from '@/people/members/operations'
import { ORDER_OPERATIONS } from '@/people/orders/operations'
import { SETTING_OPERATIONS } from '@/people/settings/operations'

/** The management API: dashboard routes by other paths, each with a scope. None is for management keys: a key can't make or change one. */
export const OPERATIONS: readonly ManagementOperation[] = [
  ...managed(KEY_OPERATIONS),
  ...managed(BUDGET_OPERATIONS),
  ...managed(MEMBER_OPERATIONS),
  ...managed(MEMBER_POLICY_OPERATIONS),
  ...managed(SETTING_OPERATIONS),
  ...managed(INVITATION_OPERATIONS),
  ...managed(ORDER_OPERATIONS),
  { method: 'GET', path: '/audit', scope: 'audit:read' },
]
