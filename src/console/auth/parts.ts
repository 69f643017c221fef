/** Shared by all sign-in flows: library, tables, throttle, mail and settings. */
import type { MailDesk } from '@/accounts/mails/outbox'
import type { Database } from '@/db/client'
import type { Logger } from '@/lib/logger'
import { meaningOfFailure } from './failure'
import type { Library } from './library'
import type { Throttle } from './throttle'

export type SignInSettings = {
  signUp: 'open' | 'closed'
  sessionIdleSeconds: number
  sessionMaxSeconds: number
}

export type AuthParts = {
  settings: SignInSettings
  publicUrl: string | undefined
  database: Database
  throttle: Throttle
  mails: MailDesk | undefined
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
