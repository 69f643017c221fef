import { eq } from 'drizzle-orm'
import { type AccountRole, sessions, type UserRole } from '@/db/auth-schema'
import { type AuthParts, ask } from './parts'

export type Viewer = {
  userId: string
  /** The account that the person was created with. A request's account is in its path; see `Member`. */
  ownAccountId: string
  email: string
  name: string
  role: UserRole
  sessionId: string
  /** Whether signing in requires a code. Without it, administrators have no access. */
  isTotpEnabled: boolean
  /** When this session last checked a password or code, in milliseconds since 1970. */
  provedAtMs: number
}

/** A signed-in person in an account that they are a member of. */
export type Member = Viewer & {
  accountId: string
  accountRole: AccountRole
  /** Whether the member sees all usage of the account, or only that of their own keys. */
  seesAllUsage: boolean
  /** The management key that sent the request, instead of a session. */
  managementKeyId?: string
  managementScopes?: readonly string[]
  /** The operator key that sent the request, instead of a session. */
  operatorKeyId?: string
}

/** Finds the person of a request's session cookie; undefined if there is no valid session. */
export type IdentifyViewer = (request: Request) => Promise<Viewer | undefined>

/** The time of last use is written at most this often. */
const TOUCH_SECONDS = 60

/** Finds a request's person; reads role and account anew each time. A session ends after too long without use, or at its maximum age. */
export function createIdentifyViewer(parts: AuthParts): IdentifyViewer {
  const { db } = parts.database
  return async function identifyViewer(request) {
    const cookie = request.headers.get('cookie')
    if (cookie === null) return undefined
    const { body: found } = await ask(parts, (library) =>
      library.api.getSession({ headers: new Headers({ cookie }), returnHeaders: true }),
    )
    if (!found) return undefined
    const { session, user } = found
    const idleSeconds = (Date.now() - session.updatedAt.getTime()) / 1000
    if (idleSeconds >= parts.settings.sessionIdleSeconds) {
      await db.delete(sessions).where(eq(sessions.id, session.id))
      return undefined
    }
    if (idleSeconds >= TOUCH_SECONDS) {
      await db.update(sessions).set({ updatedAt: new Date() }).where(eq(sessions.id, session.id))
    }
    if (!user.accountId || user.disabledAt) return undefined
    return {
      userId: user.id,
      ownAccountId: user.accountId,
      email: user.email,
      name: user.name,
      role: user.role === 'admin' ? 'admin' : 'member',
      sessionId: session.id,
      isTotpEnabled: user.twoFactorEnabled ?? false,
      provedAtMs: (session.provedAt ?? session.createdAt).getTime(),
    }
  }
}
