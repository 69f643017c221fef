/** The service's sign-in options, and the checks that forms make before the server checks. */
import { useQuery } from '@tanstack/react-query'
import { performOwn } from '@/people/client'

const MIN_CHARS = 8
const MAX_CHARS = 256

/** An error for an invalid address; null if it is valid. */
export function checkEmail(email: string): string | null {
  return /^\S+@\S+\.\S+$/.test(email.trim()) ? null : 'Enter an e-mail address.'
}

/** An error for an invalid new password; null if it is valid. */
export function checkPasswordLength(password: string): string | null {
  if (password.length < MIN_CHARS) return `Use at least ${MIN_CHARS} characters.`
  return password.length > MAX_CHARS ? `Use at most ${MAX_CHARS} characters.` : null
}

/** Returns a check that gives an error for an empty value. */
export function checkEntered(what: string): (value: string) => string | null {
  return (value) => (value.trim() === '' ? `Enter ${what}.` : null)
}

/** Whether sign-up is open, whether mail is sent, and the allowed password lengths. */
export function useSignInOptions() {
  return useQuery({
    queryKey: ['sign-in-options'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => performOwn('GET /session/options', {}),
  })
}
