/** What a new password must not be: the first guesses of everybody who guesses. */
import { GatewayError } from '@/chat/error'
import { COMMON_PASSWORDS } from './common-passwords'

/**
 * Refuses a password that is among the commonest, repeats itself, or is one of `known` (the person's address and name). Its
 * length is the schema's business. No rule asks for signs or digits, which only make passwords alike.
 */
export function checkNewPassword(password: string, known: readonly string[], param = 'password'): void {
  const plain = password.toLowerCase()
  const words = known.flatMap((text) => [text, text.split('@')[0] ?? '']).map((word) => word.toLowerCase())
  if (COMMON_PASSWORDS.has(plain) || isMonotonous(plain) || words.includes(plain)) {
    throw new GatewayError('invalid_request', 'This password is easy to guess. Choose another one.', {
      code: 'weak_password',
      param,
    })
  }
}

/** Whether a text is one piece of up to four characters again and again, or one run such as 12345678. */
function isMonotonous(text: string): boolean {
  if (/^(.{1,4})\1+$/su.test(text)) return true
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0)
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0))
  return steps.every((step) => step === 1) || steps.every((step) => step === -1)
}
