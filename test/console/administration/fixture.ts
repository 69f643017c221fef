/** Two administrators and a customer on a gateway of their own, and orders to act on. */
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import type { Administration, MoneyRequest } from '@/console/administration/administration'
import type { Administrator } from '@/console/administration/administrator'
import type { Order } from '@/console/orders/types'
import { assert } from '@/lib/assert'

export type Office = {
  gateway: TestGateway
  administration: Administration
  first: Person
  second: Person
  /** As the audit log knows the two. */
  ada: Administrator & { accountId: string }
  bob: Administrator & { accountId: string }
  stop(): Promise<void>
}

/** Opens an office with a limit of 1,000 USD. */
export async function openOffice(environment: Record<string, string> = {}): Promise<Office> {
  const gateway = await startGateway({ respond: () => Response.json(chatCompletion('ok')), environment })
  const [first, second] = await Promise.all([
    signUpPerson(gateway, { role: 'admin', name: 'Ada', email: `ada-${crypto.randomUUID()}@example.test` }),
    signUpPerson(gateway, { role: 'admin', name: 'Bob', email: `bob-${crypto.randomUUID()}@example.test` }),
  ])
  return {
    gateway,
    administration: gateway.gateway.deps.dashboard.administration,
    first,
    second,
    ada: { userId: first.viewer.userId, accountId: first.viewer.accountId, email: first.email },
    bob: { userId: second.viewer.userId, accountId: second.viewer.accountId, email: second.email },
    stop: () => gateway.stop(),
  }
}

/** A day passes: what administrators have moved so far no longer counts towards their limits. */
export async function newDay({ gateway }: Pick<Office, 'gateway'>): Promise<void> {
  await gateway.gateway.database.sql`UPDATE unapproved_movements SET created_at = created_at - interval '25 hours'`
}

/** A pending order of `usd` by bank transfer, of an account of its own unless one is given. */
export async function pendingOrder(office: Office, usd: number, accountId?: string): Promise<Order> {
  const { orders } = office.gateway.gateway.deps.dashboard
  const outcome = await orders.create({
    accountId: accountId ?? (await office.gateway.customer('0')).accountId,
    method: 'bank_transfer',
    amountCents: usd * 100,
    actor: { kind: 'system', name: 'test' },
  })
  assert(outcome.kind === 'created', `no order: ${outcome.kind}`)
  return outcome.order
}

/** A request to add `usd` (or, negative, take it back) with a key of its own. */
export function adjustment(accountId: string, usd: number, key = crypto.randomUUID()): MoneyRequest {
  const operation = { kind: 'credit.adjust', accountId, amountNano: usd * 1e9, allowNegative: true } as const
  return { operation, reason: 'a test', key }
}

/** The balance of the ledger in USD. */
export async function balanceOf(office: Office, accountId: string): Promise<number> {
  const { available } = await office.gateway.balance(accountId)
  return available / 1e9
}
