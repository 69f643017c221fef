/** A gateway with people, keys, orders and usage: what the pages look like when somebody lives in them. */
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatStream, eventStream, usageOf } from '@test/support/upstream'
import { bookMonth } from './history'
import { makeTeam } from './team'

export type Stage = {
  gateway: TestGateway
  /** An administrator with a history. */
  administrator: Person
  /** Has just signed up. */
  newcomer: Person
  orderId: string
  openOrderId: string
  keyId: string
  requestId: string
  /** What the link of an invitation ends in. */
  invitation: string
}

const ANSWER = 'The quick brown fox jumps over the lazy dog; then it writes a haiku about it. '.split(/(?<= )/)
const MODELS = [
  ['svc/beta', 'Beta', 5, 25, 400_000],
  ['svc/gamma', 'Gamma', 0.3, 2.5, 128_000],
] as const
/** Long enough for the tokens that the provider counts. */
const PROMPT = 'Write a haiku about a fox and a dog. '.repeat(140)
const LIVE_REQUESTS = 24
const LONG_NAME = 'Count Leopold Maximilian von und zu Hohenlohe-Langenburg-Schillingsfürst'
/** By what usage is sorted. */
const LABELS = { 'x-svc-tags': 'team=search, env=prod', 'x-title': 'Translation desk' }

/** Sets everything up; stop `gateway` afterwards. */
export async function openStage(): Promise<Stage> {
  const gateway = await startGateway({
    respond: () => eventStream(...chatStream(ANSWER, usageOf(1_200, 420))),
    catalog(file) {
      const [alpha] = file.models
      for (const [id, name, input, output, contextLength] of MODELS) {
        const pricing = { inputPer1mTokens: input, outputPer1mTokens: output, cacheReadPer1mTokens: input / 10 }
        const targets = [{ provider: 'provider1', model: `${id.slice(4)}-upstream` }]
        file.models.push({ ...alpha, id, name, pricing, contextLength, targets })
      }
    },
  })
  const administrator = await signUpPerson(gateway, {
    name: 'Ada Lovelace',
    email: 'ada@analytical.example',
    role: 'admin',
  })
  const newcomer = await signUpPerson(gateway, { name: 'Grace Hopper', email: 'grace@compilers.example' })
  // Invitations are answered with a confirmed address.
  await gateway.gateway.database.sql`UPDATE users SET email_verified = true WHERE id = ${administrator.viewer.userId}`
  // Nobody confirms what they have ordered themselves.
  const colleague = await signUpPerson(gateway, { name: 'Charles Babbage', role: 'admin' })
  const orderId = await paidOrder(administrator, colleague, '250')
  const openOrderId = await order(newcomer, '100')
  await order(administrator, '50')
  const { keyId, key } = await createKeys(administrator)
  await bookMonth(gateway.stores.databaseUrl, { accountId: administrator.viewer.accountId, keyId })
  for (let index = 0; index < LIVE_REQUESTS; index++) {
    const [model] = MODELS[index % MODELS.length] ?? MODELS[0]
    await (await chat(gateway.url, key, model)).text()
  }
  const requestId = (await chat(gateway.url, key, 'svc/alpha')).headers.get('x-request-id') ?? ''
  const invitation = await makeTeam(gateway, administrator, {
    ...{ company: 'Analytical Engines Ltd', models: ['svc/alpha', 'svc/beta', 'svc/gamma'], keyId },
    others: [
      [newcomer, 'developer'],
      [colleague, 'billing'],
      [await signUpPerson(gateway, { name: LONG_NAME }), 'viewer'],
    ],
  })
  const isBooked = async () => (await gateway.gateway.deps.ledger.unsyncedRecordCount()) === 0
  await until(isBooked, 'the charges to be in the history')
  return { gateway, administrator, newcomer, orderId, openOrderId, keyId, requestId, invitation }
}

function chat(url: string, key: string, model: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...LABELS },
    body: JSON.stringify({ model, stream: true, max_tokens: 500, messages: [{ role: 'user', content: PROMPT }] }),
  })
}

async function order(person: Person, amountUsd: string): Promise<string> {
  const { body } = await person.json('POST', '/dashboard/api/a/:accountId/orders', {
    amountUsd,
    method: 'bank_transfer',
  })
  return (body as { orderId: string }).orderId
}

async function paidOrder(customer: Person, administrator: Person, amountUsd: string): Promise<string> {
  const orderId = await order(customer, amountUsd)
  await administrator.json('POST', `/dashboard/api/admin/orders/${orderId}/confirm`, {
    amount: amountUsd,
    reason: 'Seen on the statement of today',
    key: crypto.randomUUID(),
  })
  return orderId
}

async function createKeys(person: Person): Promise<{ keyId: string; key: string }> {
  const create = async (body: object) => {
    const answer = await person.json('POST', '/dashboard/api/a/:accountId/keys', body)
    const { key, item } = answer.body as { key: string; item: { id: string } }
    return { key, keyId: item.id }
  }
  const production = await create({ name: 'Production' })
  await create({ name: 'Staging', requestsPerMinute: 60, monthlyBudgetUsd: '25' })
  const old = await create({ name: 'Old laptop' })
  await person.json('POST', `/dashboard/api/a/:accountId/keys/${old.keyId}/deactivate`, {})
  return production
}
