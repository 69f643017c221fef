/** Links that turn a kind of mails off for one address without a sign-in: sealed, so that nobody makes one up, and good for ever. */
import { seal, unseal } from '@/accounts/mails/seal'
import { OPTIONAL_KINDS, type OptionalKind } from '@/db/alert-schema'
import { parseJson } from '@/lib/json'
import type { Secrets } from '@/lib/secrets'

/** Below the address of the service. */
export const UNSUBSCRIBE_PATH = '/mail/unsubscribe'

const PURPOSE = 'unsubscribe'

/** A recipient and the kind of mail that they turn off. */
export type Unsubscription = { accountId: string; email: string; kind: OptionalKind }

/** The link's path and query. */
export function unsubscribeLink(secrets: Secrets, { accountId, email, kind }: Unsubscription): string {
  return `${UNSUBSCRIBE_PATH}?token=${seal(secrets, PURPOSE, JSON.stringify([accountId, email, kind]))}`
}

/** The content of a token; undefined if it is not ours. */
export function readUnsubscribeToken(secrets: Secrets, token: string): Unsubscription | undefined {
  const text = unseal(secrets, PURPOSE, token)
  const parts = text === undefined ? undefined : parseJson(text)
  if (!Array.isArray(parts)) return undefined
  const [accountId, email, name] = parts
  const kind = OPTIONAL_KINDS.find((one) => one === name)
  return typeof accountId === 'string' && typeof email === 'string' && kind ? { accountId, email, kind } : undefined
}
