/** Who changes something of an account, as the audit log names them. */
import type { ChangedBy } from '@/accounts/audit'
import type { Member, Viewer } from '@/console/auth/viewer'
import { clientAddress } from '@/http/client-address'
import { requestIdOf } from '@/http/request-id'

/** Who asks, by which request, and how the audit log names them. */
export type Caller = { viewer: Member; request: Request; by: ReturnType<typeof changedBy> }

type Changer = Pick<Viewer, 'userId' | 'email'> & Pick<Member, 'managementKeyId'>

/** The person, or the management key in whose maker's name it happens, from where and by which request. */
export function changedBy(
  { trustedProxyHops }: { trustedProxyHops: number },
  { userId, email, managementKeyId }: Changer,
  request: Request,
) {
  return {
    actor: { userId, email },
    ip: clientAddress(request, trustedProxyHops),
    requestId: requestIdOf(request),
    ...(managementKeyId !== undefined && { managementKeyId }),
  } satisfies ChangedBy
}
