/** Unsubscribe links: each turns off one kind of mail to one address, without sign-in. Encrypted against forgery; they never expire. */
import { seal, unseal } from '@/accounts/mails/seal'
import { OPTIONAL_KINDS, type OptionalKind } from '@/db/alert-schema'
import { parseJson } from '@/lib/json'
import type { Secrets } from '@/lib/secrets'

/** The page's path, relative to the service's address. */
export const UNSUBSCRIBE_PATH = '/mail/unsubscribe'

const PURPOSE = 'unsubscribe'

export type Unsubscription = { accountId: string; email: string; kind: OptionalKind }

/** The link's path and query. */
export function unsubscribeLink(secrets: Secrets, { accountId, email, kind }: Unsubscription): string {
  return `${UNSUBSCRIBE_PATH}?token=${seal(secrets, PURPOSE, JSON.stringify([accountId, email, kind]))}`
}

/** A token's content; undefined if it is not valid. */
export function readUnsubscribeToken(secrets: Secrets, token: string): Unsubscription | undefined {
  const text = unseal(secrets, PURPOSE, token)
  const parts = text === undefined ? undefined : parseJson(text)
  if (!Array.isArray(parts)) return undefined
  const [accountId, email, name] = parts
  const kind = OPTIONAL_KINDS.find((one) => one === name)
  return typeof accountId === 'string' && typeof email === 'string' && kind ? { accountId, email, kind } : undefined
}
