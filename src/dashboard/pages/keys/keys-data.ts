/** API keys as the pages ask for them and change them. */
import { useQuery } from '@tanstack/react-query'
import type { KeyBody } from '@/console/http/key-bodies'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import { allPages, askAgain, queryClient } from '@/dashboard/query'

export type { KeyBody } from '@/console/http/key-bodies'

const KEYS = ['keys'] as const

/** All keys of the account. */
export function useKeys() {
  return useQuery({ queryKey: KEYS, queryFn: () => allPages((query) => answer(accountApi().keys.get({ query }))) })
}

/** One key with its latest 30 days. */
export function useKey(id: string) {
  return useQuery({ queryKey: [...KEYS, id], queryFn: () => answer(accountApi().keys({ id }).get()) })
}

/** Shows what has changed, in the list and on the key's own page. */
export function keysChanged(): Promise<void> {
  return askAgain({ queryKey: KEYS })
}

/** Switches a key off or on. */
export async function setActive({ id }: KeyBody, isActive: boolean): Promise<void> {
  await answer(isActive ? accountApi().keys({ id }).activate.post({}) : accountApi().keys({ id }).deactivate.post({}))
  await keysChanged()
}

/** Makes it the key of another member. */
export async function transferKey({ id }: KeyBody, userId: string): Promise<void> {
  await answer(accountApi().keys({ id }).transfer.post({ userId }))
  await keysChanged()
}

/** Deletes a key for ever. */
export async function deleteKey({ id }: KeyBody): Promise<void> {
  await answer(accountApi().keys({ id }).delete())
  queryClient.removeQueries({ queryKey: [...KEYS, id] })
  await keysChanged()
}

/** The key as a list shows it. */
export function maskedKey({ prefix, lastFour }: KeyBody): string {
  return `${prefix}…${lastFour}`
}
