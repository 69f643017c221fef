/** Asks the server what signing in offers here: sign-up, mail, how long passwords are. */
import { useQuery } from '@tanstack/react-query'
import { answer, api } from '@/dashboard/client'

/** Whether sign-up is open, whether mail is sent, and how long passwords are. */
export function useSignInOptions() {
  return useQuery({
    queryKey: ['sign-in-options'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => answer(api.session.options.get()),
  })
}
