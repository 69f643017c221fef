/** What the flows of sign-in share: the library, the tables, the throttle, the mail and the settings. */
import type { MailDesk } from '@/accounts/mails/outbox'
import type { Database } from '@/db/client'
import type { Logger } from '@/lib/logger'
import { meaningOfFailure } from './failure'
import type { Library } from './library'
import type { Throttle } from './throttle'

export type SignInSettings = {
  /** Whether anybody may create an account. */
  signUp: 'open' | 'closed'
  /** Seconds without a request after which a session ends. */
  sessionIdleSeconds: number
  /** Seconds after which a session ends in any case. */
  sessionMaxSeconds: number
}

export type AuthParts = {
  settings: SignInSettings
  /** The address people open; undefined: where the request was sent to. */
  publicUrl: string | undefined
  database: Database
  throttle: Throttle
  /** Undefined if no mail can be sent. */
  mails: MailDesk | undefined
  /** Whether an address has to be verified before its user may sign in. */
  requiresVerification: boolean
  logger: Logger
  library(): Promise<Library>
}

/** An answer and the cookies that go with it, each the text of a Set-Cookie header. */
export type Answer<T> = { body: T; cookies: string[] }

/** Calls the library; its refusals become ours. */
export async function ask<T>(
  parts: AuthParts,
  call: (library: Library) => Promise<{ response: T; headers: Headers }>,
): Promise<Answer<T>> {
  const library = await parts.library()
  try {
    const { response, headers } = await call(library)
    return { body: response, cookies: headers.getSetCookie() }
  } catch (error) {
    throw meaningOfFailure(error)
  }
}
