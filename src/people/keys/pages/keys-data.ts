/** Queries and changes of API keys, for the pages. */
import { useQuery } from '@tanstack/react-query'
import { allPages, askAgain, queryClient } from '@/dashboard/query'
import { perform, performVersioned } from '@/people/client'
import type { KeyBody } from '@/people/keys/bodies'

export type { KeyBody } from '@/people/keys/bodies'

const KEYS = ['keys'] as const

/** All keys of the account. */
export function useKeys() {
  return useQuery({ queryKey: KEYS, queryFn: () => allPages((query) => perform('GET /keys', query)) })
}

/** One key with its usage of the latest 30 days, and its version. */
export function useKey(id: string) {
  return useQuery({ queryKey: [...KEYS, id], queryFn: () => performVersioned('GET /keys/:id', { id }) })
}

/** Reloads the list and the key's own page after a change. */
export function keysChanged(): Promise<void> {
  return askAgain({ queryKey: KEYS })
}

/** Activates a key, or deactivates it. */
export async function setActive({ id }: KeyBody, isActive: boolean): Promise<void> {
  await perform(isActive ? 'POST /keys/:id/activate' : 'POST /keys/:id/deactivate', { id })
  await keysChanged()
}

/** Transfers a key to another member. */
export async function transferKey({ id }: KeyBody, userId: string): Promise<void> {
  await perform('POST /keys/:id/transfer', { id, userId })
  await keysChanged()
}

/** Deletes a key for ever. */
export async function deleteKey({ id }: KeyBody): Promise<void> {
  await perform('DELETE /keys/:id', { id })
  queryClient.removeQueries({ queryKey: [...KEYS, id] })
  await keysChanged()
}

/** A key as lists show it: only its first and last characters. */
export function maskedKey({ prefix, lastFour }: KeyBody): string {
  return `${prefix}…${lastFour}`
}
