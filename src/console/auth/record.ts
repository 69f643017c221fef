/** Notes in the audit log what changes how somebody signs in. */
import { recordAudit } from '@/accounts/audit'
import type { AuthParts } from './parts'
import type { Visitor } from './visitor'

type SignInChange =
  | 'user.verify_email'
  | 'user.change_password'
  | 'user.reset_password'
  | 'user.enable_totp'
  | 'user.disable_totp'
  | 'user.renew_backup_codes'

type ChangedUser = { userId: string; email: string; accountId: string | null }

/** Records that `user` did `action` to themselves. */
export async function record(
  parts: AuthParts,
  visitor: Visitor,
  user: ChangedUser,
  action: SignInChange,
): Promise<void> {
  const { userId, email, accountId } = user
  await parts.database.db.transaction((transaction) =>
    recordAudit(transaction, {
      actor: { userId, email },
      action,
      subject: userId,
      accountId,
      details: {},
      ip: visitor.address,
    }),
  )
}
