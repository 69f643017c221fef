/** Who looks at the dashboard: the person behind a session. */
import type { UserRole } from '@/db/schema'

/** A signed-in person and the account they pay with. */
export type Viewer = {
  userId: string
  /** The account whose keys, usage and credit the person sees; never taken from a request. */
  accountId: string
  email: string
  name: string
  role: UserRole
  sessionId: string
}

/** Finds the person behind a request's session cookie; undefined where there is none, or the session has ended. */
export type IdentifyViewer = (request: Request) => Promise<Viewer | undefined>
