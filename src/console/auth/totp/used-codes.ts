/** Codes of authenticator apps work once, wherever they are given: at sign-in, at set-up, or to prove again who one is. */
import { wrongCode } from '@/console/auth/failure'
import type { AuthParts } from '@/console/auth/parts'

/** A code is valid for up to this long: its own half minute, and one before and after it. */
const CODE_LIFE_SECONDS = 120

/** Uses `code` up. Throws `wrong_code` where it was used before, and `overloaded` where that can't be known. */
export async function takeCode({ throttle }: Pick<AuthParts, 'throttle'>, userId: string, code: string): Promise<void> {
  if (!(await throttle.takeOnce('code', `${userId}:${code}`, CODE_LIFE_SECONDS))) throw wrongCode()
}
