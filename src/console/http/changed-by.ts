import type { ChangedBy } from '@/accounts/audit'
import type { Member, Viewer } from '@/console/auth/viewer'
import { clientAddress } from '@/http/client-address'
import { requestIdOf } from '@/http/request-id'

/** The acting member, their request, and the origin of their audit entries. */
export type Caller = { viewer: Member; request: Request; by: ReturnType<typeof changedBy> }

type Changer = Pick<Viewer, 'userId' | 'email'> & Pick<Member, 'managementKeyId'>

/** Actor of an audit entry: the person, or the management key on behalf of its maker, with network address and request id. */
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
