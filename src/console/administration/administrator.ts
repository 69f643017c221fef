import type { AuditEntry } from '@/accounts/audit'

export type Administrator = { userId: string; email: string; ip?: string; requestId?: string }

/** Actor and origin of an administrator's audit entry. */
export function auditOrigin({
  userId,
  email,
  ip,
  requestId,
}: Administrator): Pick<AuditEntry, 'actor' | 'ip' | 'requestId'> {
  return { actor: { userId, email }, ...(ip !== undefined && { ip }), ...(requestId !== undefined && { requestId }) }
}
