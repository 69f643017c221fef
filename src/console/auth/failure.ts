/** What the sign-in library refuses, in our own words. */
import { GatewayError } from '@/chat/error'

/** The answer that `error`, thrown by the library, means. Anything it did not mean to say is a bug, and stays what it is. */
export function meaningOfFailure(error: unknown): unknown {
  if (error instanceof Error && UNREADABLE.test(error.message)) return unreadableFactor()
  if (!isRefusal(error)) return error
  const code = error.body?.code ?? ''
  if (code === 'VALIDATION_ERROR') return notAsExpected(error.message)
  // The library's word for a backup code that another sign-in uses up at this moment.
  if (error.status === 'CONFLICT') return wrongCode()
  const told = MEANINGS[code]
  return told ? told() : error
}

/** The library's words where no secret that it has encrypted what it is to read. */
const UNREADABLE = /^Secret version \d+ not found\b/

/** The service's secret was changed, and the one that a second factor was encrypted by is no longer known. */
function unreadableFactor(): GatewayError {
  const message =
    'Your authenticator app and backup codes can no longer be checked, because the secret of this service was changed. ' +
    'Ask its operator to take your second step away.'
  return new GatewayError('conflict', message, { code: 'second_step_unreadable' })
}

/** Known by its name: the class comes with the whole library, which is loaded at the first sign-in only. */
function isRefusal(error: unknown): error is Error & { status?: unknown; body?: { code?: string } } {
  return error instanceof Error && error.name === 'APIError' && 'body' in error
}

/** The same for an address nobody has and a password that is wrong. */
function wrongCredentials(): GatewayError {
  return new GatewayError('invalid_credentials', 'The e-mail address or the password is wrong.', {
    code: 'wrong_credentials',
  })
}

/** Somebody has to open the link in a mail first. */
export function notVerified(): GatewayError {
  return new GatewayError('forbidden', 'Confirm your e-mail address first: open the link we have sent you.', {
    code: 'email_not_verified',
  })
}

/** An operator has disabled this person. Shown only after the right password. */
export function disabledUser(): GatewayError {
  return new GatewayError('forbidden', 'This login was disabled by the operator of the service.', {
    code: 'user_disabled',
  })
}

/** The current password, asked for again, is wrong. */
export function wrongPassword(param = 'password'): GatewayError {
  return new GatewayError('invalid_request', 'The password is wrong.', { code: 'wrong_password', param })
}

/** A link is too old, used already, or was never ours. */
export function invalidLink(): GatewayError {
  return new GatewayError('invalid_request', 'The link is no longer valid. Ask for a new one.', {
    code: 'invalid_link',
    param: 'token',
  })
}

/** The error if no mail can be sent; `instead` says what to do. */
export function mailNotConfigured(instead: string): GatewayError {
  return new GatewayError('forbidden', `This service sends no mail. ${instead}`, { code: 'mail_not_configured' })
}

/** The address belongs to somebody else. */
export function emailTaken(): GatewayError {
  return new GatewayError('conflict', 'This e-mail address is in use already. Sign in instead.', {
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
  // Two sign-ups with one address at the same time: the second finds it taken only when it writes.
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

/** The library knows more rules for a field than its schema here does: for addresses above all. */
function notAsExpected(message: string): GatewayError {
  if (message.includes('body.email')) return invalidEmail()
  return new GatewayError('invalid_request', 'A field has a form that is not possible here.')
}

/** No address that a mail could be sent to. */
export function invalidEmail(): GatewayError {
  return new GatewayError('invalid_request', 'This is not an e-mail address.', {
    code: 'invalid_email',
    param: 'email',
  })
}

const LOCK_SECONDS = 900
const RETRY_AFTER_SECONDS = 2

/** A code of an authenticator app or a backup code is wrong, too old or used already. */
export function wrongCode(): GatewayError {
  return new GatewayError('invalid_request', 'The code is wrong or too old.', { code: 'wrong_code', param: 'code' })
}

function startAgain(): GatewayError {
  return new GatewayError('invalid_credentials', 'Too much time or too many wrong codes: sign in again.', {
    code: 'sign_in_again',
  })
}

function notEnabled(): GatewayError {
  return new GatewayError('conflict', 'No authenticator app is set up.', { code: 'totp_not_enabled' })
}
