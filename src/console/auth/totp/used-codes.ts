import { wrongCode } from '@/console/auth/failure'
import type { AuthParts } from '@/console/auth/parts'

/** Longer than a code is valid: its own 30 seconds, and the 30 before and after. */
const CODE_LIFE_SECONDS = 120

/** Makes each authenticator code single-use, everywhere. Throws `wrong_code` if `code` was used, `overloaded` if that can't be checked. */
export async function takeCode({ throttle }: Pick<AuthParts, 'throttle'>, userId: string, code: string): Promise<void> {
  if (!(await throttle.takeOnce('code', `${userId}:${code}`, CODE_LIFE_SECONDS))) throw wrongCode()
}
