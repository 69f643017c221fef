import type { MailDesk } from '@/accounts/mails/outbox'
import type { MailSettings } from '@/accounts/mails/transport'
import type { Database } from '@/db/client'
import type { RedisClient } from '@/ledger/store/connection'
import type { Logger } from '@/lib/logger'
import { once } from '@/lib/once'
import type { Secrets } from '@/lib/secrets'
import type { Library } from './library'
import { changesAt, changesBy } from './limits'
import type { AuthParts, SignInSettings } from './parts'
import { secretsOf } from './secret'
import { createThrottle } from './throttle'
import { createIdentifyViewer, type IdentifyViewer, type Viewer } from './viewer'

type AuthOptions = {
  settings: SignInSettings & {
    /** Undefined: one is generated and stored in Postgres. */
    secrets: Secrets | undefined
    /** Undefined: no mail is sent. */
    mail: MailSettings | undefined
  }
  /** Undefined if no mail can be sent. */
  mails: MailDesk | undefined
  publicUrl: string | undefined
  /** The service's name in authenticator apps. */
  issuer: string
  database: Database
  redis: RedisClient
  logger: Logger
}

export type Auth = {
  parts: AuthParts
  identifyViewer: IdentifyViewer
  /** Counts a change that a person is about to make in the account. Throws `too_many_attempts`, or `overloaded` if it can't be counted. */
  countChange(viewer: Pick<Viewer, 'userId'>, accountId: string): Promise<void>
}

/** The sign-in service: secret, library and flows. It uses no store before the first request, so gateways can start without stores. */
export function createAuth(options: AuthOptions): Auth {
  const { settings, publicUrl, database, redis, logger } = options
  const secrets = once(() => secretsOf(settings.secrets, database))
  const requiresVerification = settings.mail !== undefined
  const library = once(async (): Promise<Library> => {
    // Loaded lazily: loading takes a third of the start time, and no paid request needs it.
    const { createLibrary } = await import('./library')
    return createLibrary({
      database,
      secrets: await secrets(),
      publicUrl,
      requiresVerification,
      sessionMaxSeconds: settings.sessionMaxSeconds,
      issuer: options.issuer,
      logger,
    })
  })
  const parts: AuthParts = {
    settings,
    publicUrl,
    database,
    throttle: createThrottle(redis, async () => (await secrets())[0]),
    mails: options.mails,
    requiresVerification,
    logger,
    library,
  }
  return {
    parts,
    identifyViewer: createIdentifyViewer(parts),
    countChange: ({ userId }, accountId) => parts.throttle.attempt(changesBy(userId), changesAt(accountId)),
  }
}
