/** Records changes of credentials in the audit log, and mails the person about them. */
import { type AuditEntry, recordAudit } from '@/accounts/audit'
import { writeMails } from '@/accounts/mails/outbox'
import type { NewMail } from '@/accounts/mails/templates'
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

/** Writes the audit entry for `user`'s own `action`, and its mail, in the same transaction. */
export async function record(
  parts: AuthParts,
  visitor: Visitor,
  user: ChangedUser,
  action: SignInChange,
): Promise<void> {
  const { userId, email, ownAccountId: accountId } = user
  const entry = { action, subject: userId, accountId, details: {} }
  const mail = mailOf(action, { address: visitor.address, at: new Date().toISOString() })
  await parts.database.db.transaction(async (transaction) => {
    if (mail) await writeMails(transaction, mail, [email], { origin: new URL(visitor.request.url).origin })
    await recordAudit(transaction, { ...originOf(visitor, { userId, email }), ...entry })
  })
}

/** The mail for a change that affects signing in; undefined for other changes. */
function mailOf(action: SignInChange, where: { address: string; at: string }): NewMail | undefined {
  switch (action) {
    case 'user.change_password':
    case 'user.reset_password':
      return { kind: 'password_changed', facts: where }
    case 'user.enable_totp':
      return { kind: 'second_step_changed', facts: { what: 'enabled', ...where } }
    case 'user.disable_totp':
      return { kind: 'second_step_changed', facts: { what: 'disabled', ...where } }
    case 'user.renew_backup_codes':
      return { kind: 'second_step_changed', facts: { what: 'codes', ...where } }
    case 'user.step_up':
    case 'user.verify_email':
      return undefined
  }
}

/** Actor and origin of an audit entry. */
export function originOf({ address, requestId }: Visitor, actor: AuditEntry['actor']) {
  return { actor, ip: address, ...(requestId !== undefined && { requestId }) }
}
