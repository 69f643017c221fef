/** Better Auth as we use it: e-mail and password, sessions in our tables, a second factor. None of its routes are served. */
import { betterAuth } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { hashPassword, PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS, verifyPassword } from '@/accounts/passwords'
import { credentials, sessions, twoFactors, type UserRole, users, verifications } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { randomId, sha256Hex } from '@/lib/ids'
import type { Logger } from '@/lib/logger'
import type { Secrets } from '@/lib/secrets'
import { withHashedSessions } from './hashed-sessions'
import { ADDRESS_HEADER, cookiePrefix } from './visitor'

type LibraryOptions = {
  database: Database
  secrets: Secrets
  /** The dashboard's address. Cookies are https-only if it starts with https. */
  publicUrl: string | undefined
  requiresVerification: boolean
  sessionMaxSeconds: number
  /** The name that authenticator apps show. */
  issuer: string
  logger: Logger
}

export type Library = ReturnType<typeof createLibrary>

const SECOND_STEP_SECONDS = 600

const ID_PREFIXES: Record<string, string> = {
  user: 'user',
  session: 'sess',
  account: 'cred',
  verification: 'proof',
  twoFactor: 'factor',
}

/** A number that identifies a secret, stored with each value encrypted by it. */
function versionOf(secret: string): number {
  return Number.parseInt(sha256Hex(`version of ${secret}`).slice(0, VERSION_CHARS), 16)
}

/** 48 bits fit exactly in a number. */
const VERSION_CHARS = 12

export function createLibrary(options: LibraryOptions) {
  const isHttps = options.publicUrl?.startsWith('https://') ?? false
  return betterAuth({
    appName: options.issuer,
    baseURL: options.publicUrl ?? 'http://localhost',
    basePath: '/dashboard/api/session',
    // Secrets are identified by digest, so their order in the list does not matter.
    secrets: options.secrets.map((value) => ({ version: versionOf(value), value })),
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    logger: {
      level: 'error',
      // The library's message about a failed statement ends with its values, so it is cut there.
      log: (_level, message) => options.logger.error('auth_library_error', { message: message.split('\nparams:')[0] }),
    },
    database: withHashedSessions(
      drizzleAdapter(options.database.db, {
        provider: 'pg',
        transaction: true,
        schema: {
          user: users,
          session: sessions,
          account: credentials,
          verification: verifications,
          twoFactor: twoFactors,
        },
      }),
    ),
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: options.requiresVerification,
      minPasswordLength: PASSWORD_MIN_CHARS,
      maxPasswordLength: PASSWORD_MAX_CHARS,
      revokeSessionsOnPasswordReset: true,
      password: { hash: hashPassword, verify: ({ hash, password }) => verifyPassword(password, hash) },
    },
    user: {
      additionalFields: {
        role: { type: 'string', required: false, defaultValue: 'member' satisfies UserRole, input: false },
        accountId: { type: 'string', required: false, input: false },
        disabledAt: { type: 'date', required: false, input: false },
      },
    },
    session: {
      expiresIn: options.sessionMaxSeconds,
      disableSessionRefresh: true,
      additionalFields: { provedAt: { type: 'date', required: false, input: false } },
    },
    verification: { storeIdentifier: 'hashed' },
    plugins: [twoFactor({ issuer: options.issuer, twoFactorCookieMaxAge: SECOND_STEP_SECONDS, trustDeviceMaxAge: 1 })],
    advanced: {
      cookiePrefix: cookiePrefix(options.publicUrl),
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isHttps, httpOnly: true, sameSite: 'lax', path: '/' },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: {
        generateId: ({ model }) => randomId(ID_PREFIXES[model] ?? 'row'),
        // The library's check would report missing columns for social logins, which we don't offer; a test compares the other columns.
        validateSchema: false,
      },
    },
  })
}
