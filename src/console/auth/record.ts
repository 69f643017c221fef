/** Notes in the audit log what changes how somebody signs in. */
import { type AuditEntry, recordAudit } from '@/accounts/audit'
import type { AuthParts } from './parts'
import type { Visitor } from './visitor'

type SignInChange =
  | 'user.step_up'
  | 'user.verify_email'
  | 'user.change_password'
  | 'user.reset_password'
  | 'user.enable_totp'
  | 'user.disable_totp'
  | 'user.renew_backup_codes'

type ChangedUser = { userId: string; email: string; ownAccountId: string | null }

/** Records that `user` did `action` to themselves. */
export async function record(
  parts: AuthParts,
  visitor: Visitor,
  user: ChangedUser,
  action: SignInChange,
): Promise<void> {
  const { userId, email, ownAccountId: accountId } = user
  const entry = { action, subject: userId, accountId, details: {} }
  await parts.database.db.transaction((transaction) =>
    recordAudit(transaction, { ...originOf(visitor, { userId, email }), ...entry }),
  )
}

/** The part of an audit entry that says who, and from where. */
export function originOf({ address, requestId }: Visitor, actor: AuditEntry['actor']) {
  return { actor, ip: address, ...(requestId !== undefined && { requestId }) }
}
