/** Queries and changes of the rules for all keys of the account, and of one member. */
import { useQuery } from '@tanstack/react-query'
import type { Versioned } from '@/dashboard/client'
import { askAgain } from '@/dashboard/query'
import { performVersioned, type ResultOf } from '@/people/client'
import { keysChanged } from './keys-data'

export type KeyPolicy = ResultOf<'GET /key-policy'>
export type MemberKeyPolicy = ResultOf<'GET /members/:userId/key-policy'>

const KEY_POLICY = ['key-policy'] as const
const ofMember = (userId: string) => ['member-key-policy', userId] as const

/** The account's rules for keys. */
export function useKeyPolicy() {
  return useQuery({ queryKey: KEY_POLICY, queryFn: () => performVersioned('GET /key-policy', {}) })
}

/** A member's rules for keys, besides the account's. */
export function useMemberKeyPolicy(userId: string) {
  return useQuery({
    queryKey: ofMember(userId),
    queryFn: () => performVersioned('GET /members/:userId/key-policy', { userId }),
  })
}

/** Changes the account's rules for keys. */
export async function setKeyPolicy(
  policy: Partial<KeyPolicy>,
  ifMatch: string | undefined,
): Promise<Versioned<KeyPolicy>> {
  const saved = await performVersioned('PUT /key-policy', policy, ifMatch)
  await Promise.all([askAgain({ queryKey: KEY_POLICY }), keysChanged()])
  return saved
}

/** Changes a member's rules for keys. */
export async function setMemberKeyPolicy(
  userId: string,
  policy: Partial<MemberKeyPolicy>,
  ifMatch: string | undefined,
): Promise<void> {
  await performVersioned('PUT /members/:userId/key-policy', { userId, ...policy }, ifMatch)
  await askAgain({ queryKey: ofMember(userId) })
}
