/** The signed-in person of a request. Their session ends when it is idle for too long, or too old. */
import { eq } from 'drizzle-orm'
import { type AccountRole, sessions, type UserRole } from '@/db/auth-schema'
import { type AuthParts, ask } from './parts'

/** A signed-in person: of accounts only the one that they were given. */
export type Viewer = {
  userId: string
  /** The account that the person was given; which one a request is about says its path, and `Member` whether it may be. */
  ownAccountId: string
  email: string
  name: string
  role: UserRole
  sessionId: string
  /** Whether signing in asks for a code. Without it the role of an administrator opens nothing. */
  isTotpEnabled: boolean
  /** When this session last saw a password or a code, in milliseconds since 1970. */
  provedAtMs: number
}

/** A signed-in person in an account that they are a member of. */
export type Member = Viewer & {
  /** The account of the request's path. */
  accountId: string
  accountRole: AccountRole
  /** Whether they see all usage of the account, or what their own keys did. */
  seesAllUsage: boolean
  /** The management key by which they ask, in the place of a session. */
  managementKeyId?: string
  /** What that key may. */
  managementScopes?: readonly string[]
}

/** Finds the person behind a request's session cookie; undefined if there is none, or the session has ended. */
export type IdentifyViewer = (request: Request) => Promise<Viewer | undefined>

/** A session that is used all the time is written down as used only this often. */
const TOUCH_SECONDS = 60

/** Identifies people by the library's sessions. The role and the account are read anew each time. */
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
