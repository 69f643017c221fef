/** Which passwords are the first guesses of everybody who guesses. No rule asks for signs or digits, which only make passwords alike. */
import { COMMON_PASSWORDS } from './common-passwords'

/** Whether a password is among the commonest, repeats itself, or is one of `known` (the person's address and name). */
export function isWeakPassword(password: string, known: readonly string[]): boolean {
  const plain = password.toLowerCase()
  const words = known.flatMap((text) => [text, text.split('@')[0] ?? '']).map((word) => word.toLowerCase())
  return COMMON_PASSWORDS.has(plain) || isMonotonous(plain) || words.includes(plain)
}

/** Whether a text is one piece of up to four characters again and again, or one run such as 12345678. */
function isMonotonous(text: string): boolean {
  if (/^(.{1,4})\1+$/su.test(text)) return true
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0)
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0))
  return steps.every((step) => step === 1) || steps.every((step) => step === -1)
}
