/** Who acts on other people's accounts, as the audit log wants to know it. */
import type { AuditEntry } from '@/accounts/audit'

/** A signed-in person with the role `admin`, and where their request came from. */
export type Administrator = { userId: string; email: string; ip?: string; requestId?: string }

/** The part of an audit entry that says who. */
export function auditOrigin({
  userId,
  email,
  ip,
  requestId,
}: Administrator): Pick<AuditEntry, 'actor' | 'ip' | 'requestId'> {
  return { actor: { userId, email }, ...(ip !== undefined && { ip }), ...(requestId !== undefined && { requestId }) }
}
