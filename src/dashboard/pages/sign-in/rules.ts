/** What signing in offers here, and what its forms check before they ask the server, whose word is the last. */
import { useQuery } from '@tanstack/react-query'
import { answer, api } from '@/dashboard/client'

const MIN_CHARS = 8
const MAX_CHARS = 256

/** What is wrong with an address; null if nothing is. */
export function checkEmail(email: string): string | null {
  return /^\S+@\S+\.\S+$/.test(email.trim()) ? null : 'Enter an e-mail address.'
}

/** What is wrong with a new password; null if nothing is. */
export function checkPasswordLength(password: string): string | null {
  if (password.length < MIN_CHARS) return `Use at least ${MIN_CHARS} characters.`
  return password.length > MAX_CHARS ? `Use at most ${MAX_CHARS} characters.` : null
}

/** What is wrong where something has to be entered; null if nothing is. */
export function checkEntered(what: string): (value: string) => string | null {
  return (value) => (value.trim() === '' ? `Enter ${what}.` : null)
}

/** Whether sign-up is open, whether mail is sent, and how long passwords are. */
export function useSignInOptions() {
  return useQuery({
    queryKey: ['sign-in-options'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => answer(api.session.options.get()),
  })
}
