/** All operations by their kind: of an account's members, of a person, and of administrators. */
import { HISTORY_ADMINISTRATION } from '@/people/administration/account-history'
import { ACCOUNT_ADMINISTRATION } from '@/people/administration/accounts'
import { BOOKS_ADMINISTRATION } from '@/people/administration/books'
import { PROVIDER_ADMINISTRATION } from '@/people/administration/providers'
import { WATCH_ADMINISTRATION } from '@/people/administration/watch'
import { ALERT_LINK_OPERATIONS } from '@/people/alerts/link-routes'
import { ALERT_OPERATIONS } from '@/people/alerts/operations'
import { AUDIT_OPERATIONS } from '@/people/audit/operations'
import { BATCH_OPERATIONS } from '@/people/batches/operations'
import { BUDGET_OPERATIONS } from '@/people/budgets/operations'
import { LEAKED_KEY_OPERATIONS } from '@/people/keys/leaked-keys'
import { KEY_OPERATIONS } from '@/people/keys/operations'
import { MANAGEMENT_KEY_OPERATIONS } from '@/people/management-keys/operations'
import {
  ANSWER_OPERATIONS,
  INVITATION_OPERATIONS,
  MEMBER_OPERATIONS,
  MEMBER_POLICY_OPERATIONS,
} from '@/people/members/operations'
import { CREDIT_ADMINISTRATION } from '@/people/orders/admin-operations'
import { ORDER_OPERATIONS } from '@/people/orders/operations'
import { SETTING_OPERATIONS } from '@/people/settings/operations'
import { STORED_RESPONSE_OPERATIONS } from '@/people/settings/stored-responses'
import { OWN_OPERATIONS } from '@/people/sign-in/operations'
import { SIGN_IN_OPERATIONS } from '@/people/sign-in/visits'
import { USAGE_OPERATIONS } from '@/people/usage/operations'
import { managed } from './manage'

/** Operations on an account, in the order of the API document. */
export const ACCOUNT_OPERATIONS = [
  ...KEY_OPERATIONS,
  ...BUDGET_OPERATIONS,
  ...MEMBER_OPERATIONS,
  ...MEMBER_POLICY_OPERATIONS,
  ...SETTING_OPERATIONS,
  ...INVITATION_OPERATIONS,
  ...ORDER_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...ALERT_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...BATCH_OPERATIONS,
  ...MANAGEMENT_KEY_OPERATIONS,
  ...STORED_RESPONSE_OPERATIONS,
] as const

/** The operations of the management API. None of them is about management keys, so that no such key can make another. */
export const MANAGED_OPERATIONS = managed(ACCOUNT_OPERATIONS)

/** Operations of a signed-in person that belong to no account. */
export const PERSONAL_OPERATIONS = [...OWN_OPERATIONS, ...ANSWER_OPERATIONS] as const

/** Operations that need no session. */
export const VISITOR_OPERATIONS = [...SIGN_IN_OPERATIONS, ...LEAKED_KEY_OPERATIONS, ...ALERT_LINK_OPERATIONS] as const

/** Operations of administrators. */
export const ADMINISTRATION = [
  ...ACCOUNT_ADMINISTRATION,
  ...HISTORY_ADMINISTRATION,
  ...CREDIT_ADMINISTRATION,
  ...WATCH_ADMINISTRATION,
  ...PROVIDER_ADMINISTRATION,
  ...BOOKS_ADMINISTRATION,
] as const
