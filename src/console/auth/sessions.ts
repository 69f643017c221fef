/** A person's sessions: their browsers and times, and ending them. */
import { and, desc, eq, gt, ne } from 'drizzle-orm'
import { GatewayError } from '@/chat/error'
import { sessions } from '@/db/auth-schema'
import type { AuthParts } from './parts'
import type { Viewer } from './viewer'

type SessionInfo = {
  sessionId: string
  isCurrent: boolean
  userAgent: string
  address: string
  createdAt: Date
  lastUsedAt: Date
}

const MAX_LISTED = 100

/** The live sessions of `viewer`, most recently used first. */
export async function listSessions(parts: AuthParts, viewer: Viewer): Promise<SessionInfo[]> {
  const now = Date.now()
  const idleSince = new Date(now - parts.settings.sessionIdleSeconds * 1000)
  const rows = await parts.database.db
    .select()
    .from(sessions)
    .where(
      and(eq(sessions.userId, viewer.userId), gt(sessions.expiresAt, new Date(now)), gt(sessions.updatedAt, idleSince)),
    )
    .orderBy(desc(sessions.updatedAt))
    .limit(MAX_LISTED)
  return rows.map((row) => ({
    sessionId: row.id,
    isCurrent: row.id === viewer.sessionId,
    userAgent: row.userAgent ?? '',
    address: row.ipAddress ?? '',
    createdAt: row.createdAt,
    lastUsedAt: row.updatedAt,
  }))
}

/** Ends one session of `viewer`. Throws 404 for another person's session. */
export async function endSession(parts: AuthParts, viewer: Viewer, sessionId: string): Promise<void> {
  const ended = await parts.database.db
    .delete(sessions)
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, viewer.userId)))
    .returning({ id: sessions.id })
  if (ended.length === 0) throw new GatewayError('not_found', 'There is no such session.', { param: 'sessionId' })
}

/** Ends all sessions of `viewer` except the current one; returns their number. */
export async function endOtherSessions(parts: AuthParts, viewer: Viewer): Promise<number> {
  const ended = await parts.database.db
    .delete(sessions)
    .where(and(eq(sessions.userId, viewer.userId), ne(sessions.id, viewer.sessionId)))
    .returning({ id: sessions.id })
  return ended.length
}
