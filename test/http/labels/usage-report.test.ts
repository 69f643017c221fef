/** `GET /v1/usage/report` of a whole gateway: sums by tags, permissions, and invalid reports. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { flushed } from '@test/usage/customer'
import { formatUsd, nano } from '@/lib/money'

let gateway: TestGateway
let customer: Customer
let developer: { key: string; userId: string }

type Sums = { requests: number; errors: number; input_tokens: number; output_tokens: number; cost_usd: string }
type Report = { from: string; to: string; total: Sums; rows: (Sums & { group: Record<string, string | null> })[] }

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))) })
  customer = await gateway.customer('5')
  const { viewer } = await signUpPerson(gateway)
  const { accountId } = customer
  const { userId } = viewer
  await gateway.gateway.database.sql`
    INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${userId}, 'developer')`
  const created = await gateway.apiKeys.create({ accountId, name: 'theirs', createdBy: userId })
  if (created.kind !== 'created') throw new Error(created.kind)
  developer = { key: created.key, userId }
  const said: Record<string, string> = { 'x-svc-tags': 'team=search,env=prod', 'x-title': 'My App' }
  for (const headers of [said, { ...said, 'x-svc-tags': 'team=books', 'x-title': '' }, {}])
    await ask(customer.key, headers)
  await ask(developer.key, said)
  await flushed(gateway, accountId)
})
afterAll(() => gateway.stop())

async function ask(key: string, headers: Record<string, string>): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'svc/alpha', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(response.status).toBe(200)
  await response.body?.cancel()
}

async function report(key: string, query: string): Promise<{ status: number; body: Report }> {
  const response = await fetch(`${gateway.url}/v1/usage/report${query}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  return { status: response.status, body: (await response.json()) as Report }
}

/** 10 tokens in and 5 out, at 1,000 and 2,000 nano-USD. */
const sums = (requests: number) => ({
  ...{ requests, errors: 0, input_tokens: 10 * requests, output_tokens: 5 * requests },
  cost_usd: formatUsd(nano(requests * 20_000)),
})

describe('a report', () => {
  test('a report has each request in exactly one row, for every dimension', async () => {
    const { body } = await report(customer.key, '?group_by=tag:team,app')
    expect(body.total).toEqual(sums(4))
    expect(body.rows).toEqual([
      { group: { 'tag:team': 'books', app: null }, ...sums(1) },
      { group: { 'tag:team': 'search', app: 'My App' }, ...sums(2) },
      { group: { 'tag:team': null, app: null }, ...sums(1) },
    ])
    const byDay = await report(customer.key, '?group_by=member,provider')
    expect(byDay.body.rows).toEqual([
      { group: { member: developer.userId, provider: 'provider1' }, ...sums(1) },
      { group: { member: null, provider: 'provider1' }, ...sums(3) },
    ])
    const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/)
    expect(byDay.body).toMatchObject({ from: day, to: day, names: { [developer.userId]: expect.any(String) } })
  })

  test('a developer’s key reports only its owner’s keys, and no usage once the owner has left the account', async () => {
    const own = async () => (await report(developer.key, '?group_by=tag')).body
    const rows = [{ group: { tag: 'env=prod,team=search' }, ...sums(1) }]
    expect(await own()).toMatchObject({ total: sums(1), rows })
    await gateway.gateway.database
      .sql`DELETE FROM memberships WHERE user_id = ${developer.userId} AND account_id = ${customer.accountId}`
    expect(await own()).toMatchObject({ total: sums(1), rows })
  })

  test.each([
    ['?from=2026-01-32', 'from'],
    ['?from=2026-02-30', 'from'],
    ['?to=tomorrow', 'to'],
    ['?from=2026-01-02&to=2026-01-01', 'from'],
    ['?from=2025-01-01&to=2026-01-02', 'from'],
    ['?group_by=', 'group_by'],
    ['?group_by=user', 'group_by'],
    ['?group_by=tag:', 'group_by'],
    ['?group_by=tag:A', 'group_by'],
    ["?group_by=tag:a'b", 'group_by'],
    ['?group_by=model,model', 'group_by'],
    ['?group_by=day,model,key,app', 'group_by'],
  ])('a report is refused: %s', async (query, param) => {
    const { status, body } = await report(customer.key, query)
    expect([status, body]).toMatchObject([400, { error: { param } }])
  })

  test('a report has at most 366 days and needs a key', async () => {
    expect((await report(customer.key, '?from=2024-01-01&to=2024-12-31')).status).toBe(200)
    expect((await report('svc-none', '')).status).toBe(401)
  })
})
