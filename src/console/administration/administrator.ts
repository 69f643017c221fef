import type { ChangedBy } from '@/accounts/audit'

/**
 * A signed-in person with the role `admin`, and the origin of their request. If an operator key sent the request, both `operatorKeyId` and
 * `userId` are the key's id.
 */
export type Administrator = { userId: string; email: string; ip?: string; requestId?: string; operatorKeyId?: string }

/** Actor and origin of an audit entry. */
export function auditOrigin({ userId, email, ip, requestId, operatorKeyId }: Administrator): ChangedBy {
  return {
    actor: { userId: operatorKeyId === undefined ? userId : null, email },
    ...(ip !== undefined && { ip }),
    ...(requestId !== undefined && { requestId }),
    ...(operatorKeyId !== undefined && { operatorKeyId }),
  }
}
