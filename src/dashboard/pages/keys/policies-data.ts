/** What holds for all keys of the account, and for those of one member, as the pages ask for it and change it. */
import { useQuery } from '@tanstack/react-query'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import type { Allowed } from '@/dashboard/components/fields/allowed-fields'
import { askAgain } from '@/dashboard/query'
import { perform } from '@/people/client'
import { keysChanged } from './keys-data'

export type KeyPolicy = Allowed & { maxKeyAgeDays: number | null }

const KEY_POLICY = ['key-policy'] as const
const ofMember = (userId: string) => ['member-key-policy', userId] as const

/** That of the account. */
export function useKeyPolicy() {
  return useQuery({ queryKey: KEY_POLICY, queryFn: () => perform('GET /key-policy', {}) })
}

/** That of a member, beside the account's. */
export function useMemberKeyPolicy(userId: string) {
  return useQuery({
    queryKey: ofMember(userId),
    queryFn: () => answer(accountApi().members({ userId })['key-policy'].get()),
  })
}

/** Sets that of the account. */
export async function setKeyPolicy(policy: KeyPolicy): Promise<void> {
  await perform('PUT /key-policy', policy)
  await Promise.all([askAgain({ queryKey: KEY_POLICY }), keysChanged()])
}

/** Sets that of a member. */
export async function setMemberKeyPolicy(userId: string, policy: Allowed): Promise<void> {
  await answer(accountApi().members({ userId })['key-policy'].put(policy))
  await askAgain({ queryKey: ofMember(userId) })
}
