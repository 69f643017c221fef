/** The route that rotates an API key: answers, refusals, and immediate effect on every gateway. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { createCredits } from '@/accounts/credits'
import { nano } from '@/lib/money'
import type { KeyBody } from '@/people/keys/bodies'

const PATH = '/dashboard/api/a/:accountId/keys'
let gateway: TestGateway
let twin: TestGateway
let person: Person
let stranger: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))) })
  twin = await gateway.twin()
  person = await signUpPerson(gateway)
  stranger = await signUpPerson(gateway)
  const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
  await credits.addCredit({ accountId: person.viewer.accountId, amount: nano(10e9), reference: 'test' })
})
afterAll(() => gateway.stop())

type Created = { key: string; item: KeyBody }
type Refusal = { error: { message: string; type: string; param: string | null; code: string | null } }

async function create(body: object = {}, by = person): Promise<Created> {
  const { status, body: created } = await by.json('POST', PATH, { name: 'test', ...body })
  expect({ status, created }).toMatchObject({ status: 200 })
  return created as Created
}

async function list(by = person): Promise<KeyBody[]> {
  const { status, body } = await by.json('GET', PATH)
  expect(status).toBe(200)
  return (body as { items: KeyBody[] }).items
}

async function call(key: string, at = gateway): Promise<number> {
  const response = await fetch(`${at.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  await response.text()
  return response.status
}

describe('rotating', () => {
  test('a rotation shows the new text once; both texts work; the old one is listed by its last four characters and its expiry time', async () => {
    const { key, item } = await create({ monthlyBudgetUsd: '5' })
    const answer = await person.json('POST', `${PATH}/${item.id}/rotate`, { overlap: '1h' })
    expect(answer.status).toBe(200)
    const rotated = answer.body as Created
    expect([await call(key), await call(rotated.key, twin)]).toEqual([200, 200])
    expect(rotated.item).toMatchObject({
      ...{ id: item.id, lastFour: rotated.key.slice(-4), limits: { monthlyBudgetUsd: '5' } },
      formerSecret: { lastFour: key.slice(-4), lastUsedAt: null },
    })
    await until(async () => (await list()).find(({ id }) => id === item.id)?.formerSecret?.lastUsedAt)
    expect(JSON.stringify(await list())).not.toContain(rotated.key.slice(8, -4))
  })

  test('the default overlap of a rotation is a day, and no overlap is possible', async () => {
    const { key, item } = await create()
    const { body } = await person.json('POST', `${PATH}/${item.id}/rotate`, {})
    const [row] = await gateway.gateway.database.sql`
      SELECT round(extract(epoch FROM ends_at - created_at) / 3600)::int AS hours FROM key_secrets WHERE key_id = ${item.id}`
    expect(row?.hours).toBe(24)
    const again = await person.json('POST', `${PATH}/${item.id}/rotate`, { overlap: '0' })
    expect((again.body as Created).item.formerSecret).toBeNull()
    for (const at of [gateway, twin]) {
      expect([await call(key, at), await call((body as Created).key, at)]).toEqual([401, 401])
      expect(await call((again.body as Created).key, at)).toBe(200)
    }
  })

  test.each(['', '25', '31d', '-1h', '1w'])('a rotation with the overlap %p is refused', async (overlap) => {
    const { key, item } = await create()
    const { status, body } = await person.json('POST', `${PATH}/${item.id}/rotate`, { overlap })
    expect({ status, error: (body as Refusal).error }).toMatchObject({ status: 400, error: { param: 'overlap' } })
    expect(await call(key)).toBe(200)
  })

  test('only the account’s members may rotate a key', async () => {
    const { key, item } = await create()
    expect((await stranger.json('POST', `${PATH}/${item.id}/rotate`, {})).status).toBe(404)
    expect(await call(key)).toBe(200)
  })
})
