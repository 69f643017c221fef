/** A signed-in person whose account has credit and a key, and requests in their name. */
import type { TestGateway } from '@test/support/gateway'
import { type Person, type PersonOptions, signUpPerson } from '@test/support/person'
import { untilSeldom } from '@test/support/until'
import { createCredits } from '@/accounts/credits'
import { assert } from '@/lib/assert'
import { nano, parseUsd } from '@/lib/money'

export type SignedInCustomer = { person: Person; accountId: string; keyId: string; key: string }

/** Signs somebody up and gives the account `usd` of credit and a key. */
export async function signUpCustomer(
  gateway: TestGateway,
  usd: string,
  options: PersonOptions = {},
): Promise<SignedInCustomer> {
  const person = await signUpPerson(gateway, options)
  const { accountId } = person.viewer
  await addCredit(gateway, accountId, usd)
  const created = await gateway.apiKeys.create({ accountId, name: 'Test key' })
  assert(created.kind === 'created', 'the account exists')
  return { person, accountId, keyId: created.keyId, key: created.key }
}

/** Adds credit to an account. */
export async function addCredit(gateway: TestGateway, accountId: string, usd: string): Promise<void> {
  const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
  await credits.addCredit({ accountId, amount: nano(parseUsd(usd) ?? 0), reference: crypto.randomUUID() })
}

/** One chat request through the gateway. Returns its request id, after the answer was read whole. */
export async function ask(gateway: TestGateway, key: string, changes: Record<string, unknown> = {}): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hello' }], ...changes }),
  })
  await response.text()
  assert(response.ok, `the request failed with ${response.status}`)
  return response.headers.get('x-request-id') ?? ''
}

/** Waits until every charge of the account is in the history. */
export async function flushed(gateway: TestGateway, accountId: string): Promise<void> {
  const { sql } = gateway.gateway.database
  const look = async () => {
    const [row] = await sql<{ ledger_seq: number }[]>`SELECT ledger_seq FROM accounts WHERE id = ${accountId}`
    return row?.ledger_seq === (await gateway.balance(accountId)).seq
  }
  // The flusher waits up to a second for more charges, and each look costs two calls.
  await untilSeldom(look, 'the history to have every charge')
}
