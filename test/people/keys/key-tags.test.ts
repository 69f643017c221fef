/** Tags fixed on a key: how they are set, who may set them, and that they override the request's tags. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { createCredits } from '@/accounts/credits'
import { nano } from '@/lib/money'
import type { KeyBody } from '@/people/keys/bodies'

const KEYS = '/dashboard/api/a/:accountId/keys'
let gateway: TestGateway
let person: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))) })
  person = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

type Made = { key: string; item: KeyBody }

async function make(tags: unknown): Promise<{ status: number; body: unknown }> {
  return await person.json('POST', KEYS, { name: 'tagged', tags })
}

test('a key’s tags are in all its usage, and override the header’s tags', async () => {
  const { key, item } = (await make(['team=search', 'env=prod'])).body as Made
  expect(item.tags).toEqual(['env=prod', 'team=search'])
  const { database, deps } = gateway.gateway
  const { accountId } = person.viewer
  await createCredits(database, deps.ledger).addCredit({ accountId, amount: nano(1e9), reference: 'tags' })
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'x-svc-tags': 'team=other,run=7',
    'x-title': 'Search page',
  }
  const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] })
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  await until(async () => {
    const { body: page } = await person.json('GET', `/dashboard/api/a/:accountId/usage?key=${item.id}&tag=team=search`)
    const [record] = (page as { items: { requestId: string }[] }).items
    if (!record) return false
    const found = await person.json('GET', `/dashboard/api/a/:accountId/usage/requests/${record.requestId}`)
    const { facts, memberName } = found.body as { facts: { label: string; value: string }[]; memberName: string }
    const told = Object.fromEntries(facts.map(({ label, value }) => [label, value]))
    expect({ ...told, memberName }).toMatchObject({
      ...{ Tags: 'env=prod, run=7, team=search', App: 'Search page', memberName: person.viewer.name },
    })
    return true
  })
})

test('a key’s tags are changed and removed, and the audit log has both values', async () => {
  const { item } = (await make(['team=a'])).body as Made
  const changed = await person.json('PATCH', `${KEYS}/${item.id}`, { tags: ['team=b'] })
  expect(changed.body).toMatchObject({ tags: ['team=b'] })
  expect((await person.json('PATCH', `${KEYS}/${item.id}`, { name: 'renamed' })).body).toMatchObject({
    tags: ['team=b'],
  })
  expect((await person.json('PATCH', `${KEYS}/${item.id}`, { tags: null })).body).toMatchObject({ tags: null })
  const entries = await gateway.gateway.database.sql`SELECT details FROM audit_entries
    WHERE subject = ${item.id} AND details ? 'tags' ORDER BY seq`
  expect(entries.map(({ details }) => [details['before.tags'], details.tags])).toEqual([
    [undefined, 'team=a'],
    ['team=a', 'team=b'],
    ['team=b', null],
  ])
})

test.each([
  ['no tag', ['search']],
  ['a name with capitals', ['Team=search']],
  ['a blank in the value', ['team=our search']],
  ['a name with two values', ['team=a', 'team=b']],
  ['an empty list', []],
  ['nine', Array.from({ length: 9 }, (_, index) => `t${index}=1`)],
])('key tags refuse %s', async (_, tags) => {
  expect(await make(tags)).toMatchObject({
    ...{ status: 400, body: { error: { param: expect.stringContaining('tags') } } },
  })
})
