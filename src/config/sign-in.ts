/** The settings of signing in to the dashboard: who may, for how long, and how mail is sent. */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Fault } from '@/lib/fault'
import { isWorthless, type Situation } from './situation'
import { integer, optional, secret } from './variables'

export type SignInSettings = {
  /** Whether anybody may create an account. Without being asked for, only where addresses are confirmed or nothing costs. */
  signUp: 'open' | 'closed'
  /** Signs cookies. Undefined: one is made and kept in the database. */
  secret: string | undefined
  /** Undefined: no mail is sent. */
  mail: { smtpUrl: string; from: string } | undefined
  /** Seconds without a request after which a session ends. */
  sessionIdleSeconds: number
  /** Seconds after which a session ends in any case. */
  sessionMaxSeconds: number
  /** Proxies in front that each add the client's address to X-Forwarded-For; 0: the header is not believed. */
  trustedProxyHops: number
}

const DAY_SECONDS = 86_400

export const SIGN_IN_VARIABLES = {
  SIGN_UP: optional(Type.Union([Type.Literal('open'), Type.Literal('closed')], { description: 'open or closed' })),
  AUTH_SECRET: optional(secret('^\\S{32,512}$', 'a secret of 32 characters or more without spaces')),
  SMTP_URL: optional(secret('^smtps?://\\S+$', 'an smtp:// or smtps:// address')),
  MAIL_FROM: optional(
    Type.String({
      pattern: '^([^<>\\x00-\\x1f"]{1,100} <[^\\s@<>]+@[^\\s@<>]+>|[^\\s@<>]+@[^\\s@<>]+)$',
      maxLength: 320,
      description: 'an e-mail address, or a name with one: Gateway <mail@example.com>',
    }),
  ),
  SESSION_IDLE_SECONDS: integer(3 * DAY_SECONDS, 60, 30 * DAY_SECONDS, 'seconds'),
  SESSION_MAX_SECONDS: integer(30 * DAY_SECONDS, 60, 365 * DAY_SECONDS, 'seconds'),
  TRUSTED_PROXY_HOPS: integer(0, 0, 10, 'a number of proxies'),
}

/** What makes links in mails unsafe: an address that whoever sends a request can choose. */
export function signInFaults(values: Record<string, unknown>): Fault[] {
  const isOpen = values.NODE_ENV === 'production' && values.SMTP_URL !== undefined && values.PUBLIC_URL === undefined
  return isOpen
    ? [{ place: 'PUBLIC_URL', message: 'is unset; in production the links in mails are built from it only' }]
    : []
}

/** The settings of validated values. */
export function toSignIn(
  values: Static<TObject<typeof SIGN_IN_VARIABLES>> & { NODE_ENV?: string | undefined },
  situation: Situation,
): SignInSettings {
  const { SMTP_URL: smtpUrl, MAIL_FROM: from } = values
  return {
    signUp: values.SIGN_UP ?? (isWorthless(values, situation) || smtpUrl !== undefined ? 'open' : 'closed'),
    secret: values.AUTH_SECRET,
    mail: smtpUrl !== undefined && from !== undefined ? { smtpUrl, from } : undefined,
    sessionIdleSeconds: values.SESSION_IDLE_SECONDS,
    sessionMaxSeconds: values.SESSION_MAX_SECONDS,
    trustedProxyHops: values.TRUSTED_PROXY_HOPS,
  }
}
