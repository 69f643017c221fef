/** Settings of the dashboard's sign-in: sign-up, sessions and mail. */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Fault } from '@/lib/fault'
import { oneOf } from '@/lib/schemas'
import type { Secrets } from '@/lib/secrets'
import { isWorthless, type Situation } from './situation'
import { integer, optional, secret } from './variables'

export type SignInSettings = {
  /** Whether anybody may create an account. By default only if addresses are confirmed or nothing costs money. */
  signUp: 'open' | 'closed'
  /** The first secret signs cookies and encrypts; all of them decrypt. Undefined: one is generated and stored in the database. */
  secrets: Secrets | undefined
  /** Undefined: no mail is sent. */
  mail: { smtpUrl: string; from: string } | undefined
  /** Seconds without a request after which a session ends. */
  sessionIdleSeconds: number
  /** Maximal length of a session in seconds. */
  sessionMaxSeconds: number
  /** Number of proxies in front that each append to X-Forwarded-For; 0: the header is ignored. */
  trustedProxyHops: number
}

const DAY_SECONDS = 86_400

export const SIGN_IN_VARIABLES = {
  SIGN_UP: optional(oneOf(['open', 'closed'], { description: 'open or closed' })),
  AUTH_SECRET: optional(
    secret(
      '^\\S{32,512}(?: \\S{32,512}){0,9}$',
      'a secret of 32 characters or more, or several with a space between them',
    ),
  ),
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
  TRUSTED_PROXY_HOPS: optional(
    Type.Integer({ minimum: 0, maximum: 10, description: 'a number of proxies: an integer from 0 to 10' }),
  ),
}

/** Settings that make signing in unsafe in production: links built from a request's host, or an undeclared proxy. */
export function signInFaults(values: Record<string, unknown>, { isCommand = false }: Situation): Fault[] {
  const { NODE_ENV: mode, SMTP_URL: smtpUrl, PUBLIC_URL: publicUrl, TRUSTED_PROXY_HOPS: hops } = values
  if (mode !== 'production') return []
  const faults: Fault[] = []
  if (smtpUrl !== undefined && publicUrl === undefined) {
    faults.push({ place: 'PUBLIC_URL', message: 'is unset; in production the links in mails are built from it only' })
  }
  if (typeof publicUrl === 'string' && publicUrl.startsWith('https:') && hops === undefined && !isCommand) {
    faults.push({
      place: 'TRUSTED_PROXY_HOPS',
      message:
        'is unset; PUBLIC_URL is https, so a proxy is in front: say how many append to X-Forwarded-For (0: none does, and ' +
        'everybody behind it counts as one address)',
    })
  }
  return faults
}

function secretsIn(text: string | undefined): Secrets | undefined {
  const [current, ...former] = text?.split(' ') ?? []
  return current === undefined ? undefined : [current, ...former]
}

/** The sign-in settings from validated variables. */
export function toSignIn(
  values: Static<TObject<typeof SIGN_IN_VARIABLES>> & { NODE_ENV?: string | undefined },
  situation: Situation,
): SignInSettings {
  const { SMTP_URL: smtpUrl, MAIL_FROM: from } = values
  return {
    signUp: values.SIGN_UP ?? (isWorthless(values, situation) || smtpUrl !== undefined ? 'open' : 'closed'),
    secrets: secretsIn(values.AUTH_SECRET),
    mail: smtpUrl !== undefined && from !== undefined ? { smtpUrl, from } : undefined,
    sessionIdleSeconds: values.SESSION_IDLE_SECONDS,
    sessionMaxSeconds: values.SESSION_MAX_SECONDS,
    trustedProxyHops: values.TRUSTED_PROXY_HOPS ?? 0,
  }
}
