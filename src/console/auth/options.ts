/** What signing in offers here, for pages that nobody is signed in to yet. */
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '@/accounts/passwords'
import type { AuthParts } from './parts'

/** Facts that anybody may know. */
export function signInOptions({ settings, mailer, requiresVerification }: AuthParts) {
  return {
    signUp: settings.signUp,
    isMailConfigured: requiresVerification,
    isPasswordResetPossible: mailer !== undefined,
    passwordMinChars: PASSWORD_MIN_CHARS,
    passwordMaxChars: PASSWORD_MAX_CHARS,
  }
}
