/** Shared by all sign-in flows: library, tables, throttle, mail and settings. */
import type { MailDesk } from '@/accounts/mails/outbox'
import type { Database } from '@/db/client'
import type { Logger } from '@/lib/logger'
import { meaningOfFailure } from './failure'
import type { Library } from './library'
import type { Throttle } from './throttle'

export type SignInSettings = {
  signUp: 'open' | 'closed'
  /** Seconds without a request after which a session ends. */
  sessionIdleSeconds: number
  /** Maximal length of a session in seconds. */
  sessionMaxSeconds: number
}

export type AuthParts = {
  settings: SignInSettings
  /** The dashboard's address; undefined: taken from the request. */
  publicUrl: string | undefined
  database: Database
  throttle: Throttle
  /** Undefined if no mail can be sent. */
  mails: MailDesk | undefined
  /** Whether an address must be confirmed before its user may sign in. */
  requiresVerification: boolean
  logger: Logger
  library(): Promise<Library>
}

/** A response body with its cookies, each the text of a Set-Cookie header. */
export type Answer<T> = { body: T; cookies: string[] }

/** Calls the library and maps its errors to ours. */
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
