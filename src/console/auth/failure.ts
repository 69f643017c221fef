/** Maps the sign-in library's errors to our own. */
import { GatewayError } from '@/chat/error'

/** The error to send for a library error. Unexpected errors are returned unchanged: they are bugs. */
export function meaningOfFailure(error: unknown): unknown {
  if (error instanceof Error && UNREADABLE.test(error.message)) return unreadableFactor()
  if (!isRefusal(error)) return error
  const code = error.body?.code ?? ''
  if (code === 'VALIDATION_ERROR') return notAsExpected(error.message)
  // The library sends CONFLICT if a concurrent sign-in has used the same backup code.
  if (error.status === 'CONFLICT') return wrongCode()
  const told = MEANINGS[code]
  return told ? told() : error
}

/** The library's message if it no longer has the secret that encrypted a value. */
const UNREADABLE = /^Secret version \d+ not found\b/

/** The service's secret was changed, and the former one, which encrypted a second factor, is missing. */
function unreadableFactor(): GatewayError {
  const message =
    'Your authenticator app and backup codes can no longer be checked, because the secret of this service was changed. ' +
    'Ask its operator to take your second step away.'
  return new GatewayError('conflict', message, { code: 'second_step_unreadable' })
}

/** Recognised by name: importing the class would load the whole library before the first sign-in. */
function isRefusal(error: unknown): error is Error & { status?: unknown; body?: { code?: string } } {
  return error instanceof Error && error.name === 'APIError' && 'body' in error
}

/** The same error for an unknown address and a wrong password. */
function wrongCredentials(): GatewayError {
  return new GatewayError('invalid_credentials', 'The e-mail address or the password is wrong.', {
    code: 'wrong_credentials',
  })
}

/** The address must be confirmed by the mailed link first. */
export function notVerified(): GatewayError {
  return new GatewayError('forbidden', 'Confirm your e-mail address first: open the link we have sent you.', {
    code: 'email_not_verified',
  })
}

/** An operator has disabled this person. Sent only after the right password. */
export function disabledUser(): GatewayError {
  return new GatewayError('forbidden', 'This login was disabled by the operator of the service.', {
    code: 'user_disabled',
  })
}

/** The current password, which the request must repeat, is wrong. */
export function wrongPassword(param = 'password'): GatewayError {
  return new GatewayError('invalid_request', 'The password is wrong.', { code: 'wrong_password', param })
}

/** A link is expired, used or invalid. */
export function invalidLink(): GatewayError {
  return new GatewayError('invalid_request', 'The link is no longer valid. Ask for a new one.', {
    code: 'invalid_link',
    param: 'token',
  })
}

/** The error if no mail can be sent; `instead` is the advice. */
export function mailNotConfigured(instead: string): GatewayError {
  return new GatewayError('forbidden', `This service sends no mail. ${instead}`, { code: 'mail_not_configured' })
}

/** The address belongs to another person. */
export function emailTaken(): GatewayError {
  return new GatewayError('conflict', 'This e-mail address is already in use. Sign in instead.', {
    code: 'email_taken',
    param: 'email',
  })
}

const MEANINGS: Record<string, () => GatewayError> = {
  INVALID_EMAIL_OR_PASSWORD: wrongCredentials,
  EMAIL_NOT_VERIFIED: notVerified,
  INVALID_PASSWORD: wrongPassword,
  CREDENTIAL_ACCOUNT_NOT_FOUND: wrongPassword,
  INVALID_TOKEN: invalidLink,
  USER_NOT_FOUND: invalidLink,
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: emailTaken,
  // Two simultaneous sign-ups with one address: the second fails when it writes.
  FAILED_TO_CREATE_USER: emailTaken,
  INVALID_EMAIL: invalidEmail,
  INVALID_CODE: wrongCode,
  INVALID_BACKUP_CODE: wrongCode,
  INVALID_TWO_FACTOR_COOKIE: startAgain,
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: startAgain,
  ACCOUNT_TEMPORARILY_LOCKED: () =>
    new GatewayError('rate_limited', 'Too many wrong codes. Try again in 15 minutes.', {
      code: 'too_many_attempts',
      retryAfterSeconds: LOCK_SECONDS,
    }),
  TOTP_ALREADY_ENABLED: () =>
    new GatewayError('conflict', 'An authenticator app is set up already.', { code: 'totp_enabled' }),
  TOTP_NOT_ENABLED: notEnabled,
  TWO_FACTOR_NOT_ENABLED: notEnabled,
  BACKUP_CODES_NOT_ENABLED: notEnabled,
  FAILED_TO_GET_SESSION: () =>
    new GatewayError('overloaded', 'Signing in is not possible at the moment. Please try again.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    }),
  UNAUTHORIZED: () => new GatewayError('invalid_credentials', 'Sign in first.', { code: 'not_signed_in' }),
}

/** The library has stricter rules for fields than our schema, mainly for addresses. */
function notAsExpected(message: string): GatewayError {
  if (message.includes('body.email')) return invalidEmail()
  return new GatewayError('invalid_request', 'A field has an invalid form.')
}

/** Not a valid mail address. */
export function invalidEmail(): GatewayError {
  return new GatewayError('invalid_request', 'This is not an e-mail address.', {
    code: 'invalid_email',
    param: 'email',
  })
}

const LOCK_SECONDS = 900
const RETRY_AFTER_SECONDS = 2

/** A code of the authenticator app, or a backup code, is wrong, expired or used. */
export function wrongCode(): GatewayError {
  return new GatewayError('invalid_request', 'The code is wrong or too old.', { code: 'wrong_code', param: 'code' })
}

function startAgain(): GatewayError {
  return new GatewayError(
    'invalid_credentials',
    'The sign-in took too long, or had too many wrong codes. Sign in again.',
    {
      code: 'sign_in_again',
    },
  )
}

function notEnabled(): GatewayError {
  return new GatewayError('conflict', 'No authenticator app is set up.', { code: 'totp_not_enabled' })
}
