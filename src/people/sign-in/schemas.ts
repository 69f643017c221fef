/** Request and response schemas of sign-in operations. */
import { Type } from '@sinclair/typebox'
import { PERMISSIONS, type Permission } from '@/accounts/members/permissions'
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '@/accounts/passwords'
import { exactly } from '@/console/http/wire'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import { titled } from '@/http/openapi/titled'
import { oneOf } from '@/lib/schemas'

export const Email = Type.String({
  pattern: '^[^\\s@\\u0000-\\u001f]{1,64}@[^\\s@\\u0000-\\u001f]+\\.[^\\s@.\\u0000-\\u001f]+$',
  minLength: 3,
  maxLength: 254,
  description: 'An e-mail address. Its letters count as lower case.',
})

export const PersonName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
  description: 'How the person is called: 1 to 100 characters.',
})

/** An existing password, to which today's rules may not apply. */
export const Password = Type.String({
  minLength: 1,
  maxLength: PASSWORD_MAX_CHARS,
  description: 'The password.',
})

export const NewPassword = Type.String({
  minLength: PASSWORD_MIN_CHARS,
  maxLength: PASSWORD_MAX_CHARS,
  description: `A new password: ${PASSWORD_MIN_CHARS} to ${PASSWORD_MAX_CHARS} characters, none of them cut off; not one of the commonest.`,
})

/** Accepts any text, so that a truncated or mistyped link gets the same error as an expired one. */
export const Token = Type.String({ description: 'The token of the link in the mail.' })

export const TotpCode = Type.String({
  pattern: '^[0-9]{6}$',
  description: 'The six digits that the authenticator app shows.',
})

export const BackupCode = Type.String({
  minLength: 5,
  maxLength: 40,
  pattern: '^[0-9A-Za-z-]+$',
  description: 'One of the backup codes. Each works once.',
})

const EitherCode = Type.Union([TotpCode, BackupCode], {
  description: 'A code of the authenticator app, or a backup code, which is used up.',
})

export const NewAddress = exactly({
  email: Email,
  password: Password,
  code: Type.Optional(EitherCode),
})

export const BothSteps = exactly({
  password: Password,
  code: EitherCode,
})

export const PendingAddress = Type.Object({
  email: Type.String(),
  expiresAt: Type.String({ format: 'date-time', description: 'When the link in the mail ends.' }),
})

export const Done = Type.Object({ done: Type.Literal(true) })

export const SignedIn = Type.Object({
  status: oneOf(['signed_in', 'totp_required'], {
    description:
      '`totp_required`: send a code to `/dashboard/api/session/sign-in/totp` or a backup code to `…/sign-in/backup-code`.',
  }),
})

export const SignedUp = Type.Object({
  status: oneOf(['signed_in', 'verification_sent'], {
    description: '`verification_sent`: a mail with a link is on its way, if the address is not in use.',
  }),
})

const Role = oneOf(['member', 'admin'])

const OwnAccount = titled('OwnAccount', {
  accountId: Type.String(),
  name: Type.String(),
  kind: oneOf(['personal', 'organisation'] as const),
  role: oneOf(ACCOUNT_ROLES),
  may: Type.Array(oneOf(Object.keys(PERMISSIONS) as Permission[]), { description: 'What the role allows' }),
})

export const Me = Type.Object({
  userId: Type.String(),
  accountId: Type.String({ description: 'The account that the person was given' }),
  accounts: Type.Array(OwnAccount, { description: 'All that the person is a member of, the oldest membership first' }),
  email: Type.String(),
  name: Type.String(),
  role: Role,
  sessionId: Type.String(),
  isEmailVerified: Type.Boolean(),
  isTotpEnabled: Type.Boolean({ description: 'Whether signing in requires a code of an authenticator app.' }),
  createdAt: Type.String({ format: 'date-time' }),
})

export const SignInOptions = Type.Object({
  signUp: oneOf(['open', 'closed']),
  isMailConfigured: Type.Boolean({ description: 'Whether mail is really sent.' }),
  isPasswordResetPossible: Type.Boolean({
    description: 'Also true in development without mail, where the link is written to the log.',
  }),
  passwordMinChars: Type.Integer(),
  passwordMaxChars: Type.Integer(),
})

export const TotpSetup = Type.Object({
  uri: Type.String({ description: '`otpauth://totp/…`, to be shown as a QR code.' }),
  secret: Type.String({ description: 'The secret in base32, for typing.' }),
  backupCodes: Type.Array(Type.String(), { maxItems: 20, description: 'Shown only now.' }),
})

export const SessionList = Type.Object({
  items: Type.Array(
    Type.Object({
      sessionId: Type.String(),
      isCurrent: Type.Boolean(),
      userAgent: Type.String({ description: 'As the browser named itself.' }),
      address: Type.String({ description: 'The network address at the time of signing in.' }),
      createdAt: Type.String({ format: 'date-time' }),
      lastUsedAt: Type.String({ format: 'date-time', description: 'To the minute.' }),
    }),
    { maxItems: 100 },
  ),
})
