import type { ChangedBy } from '@/accounts/audit'

/**
 * A signed-in person with the role `admin`, and where their request came from. With `operatorKeyId`, an operator key: its id is then the
 * `userId` too.
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
