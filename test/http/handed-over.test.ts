/** A key that is transferred to another member: each member sees the usage that they caused, in every view, even for a running request. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatChunk, chatCompletion, liveStream, usageOf } from '@test/support/upstream'
import { addCredit, ask, flushed } from '@test/usage/customer'
import { OPERATOR } from '@/accounts/audit'
import { assert } from '@/lib/assert'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))) })
})
afterAll(() => gateway.stop())

/** The request ids, or what stands for them, that each view of usage has for the person. */
async function viewsOf(person: Person, base: string): Promise<Record<string, unknown>> {
  const get = async (path: string) => (await person.json('GET', `${base}/usage${path}`)).body
  const { items } = (await get('')) as { items: { requestId: string }[] }
  const totals = (await get('/totals')) as { requests: number }
  const series = (await get('/series?group=key')) as { points: { requests: number }[] }
  const exported = await (await person.fetch(`${base}/usage/export?format=csv`)).text()
  return {
    list: items.map(({ requestId }) => requestId),
    totals: totals.requests,
    series: series.points.reduce((sum, { requests }) => sum + requests, 0),
    export: exported.trim().split('\n').length - 1,
  }
}

test('a stream whose key is transferred while it runs is charged to the first member', async () => {
  const [owner, ada, bob] = await Promise.all([signUpPerson(gateway), signUpPerson(gateway), signUpPerson(gateway)])
  const { accountId } = owner.viewer
  const { sql } = gateway.gateway.database
  for (const { viewer } of [ada, bob])
    await sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${viewer.userId}, 'developer')`
  await addCredit(gateway, accountId, '10')
  const made = await gateway.apiKeys.create({ accountId, name: 'theirs', createdBy: ada.viewer.userId })
  assert(made.kind === 'created', made.kind)
  const { key, keyId } = made
  const first = await ask(gateway, key)
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  live.write(`data: ${JSON.stringify(chatChunk({ content: 'Hel' }))}\n\n`)
  const streaming = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'svc/alpha', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const second = streaming.headers.get('x-request-id') ?? ''
  const handedOver = await gateway.apiKeys.transfer(keyId, accountId, bob.viewer.userId, OPERATOR)
  expect(handedOver.kind).toBe('updated')
  live.write(`data: ${JSON.stringify(chatChunk({}, 'stop'))}\n\ndata: [DONE]\n\n`)
  live.close()
  await streaming.text()
  gateway.upstream.respond(() => Response.json(chatCompletion('Hello', usageOf(50, 50))))
  const third = await ask(gateway, key)
  await flushed(gateway, accountId)
  const base = `/dashboard/api/a/${accountId}`
  expect(await viewsOf(ada, base)).toEqual({ list: [second, first], totals: 2, series: 2, export: 2 })
  expect(await viewsOf(bob, base)).toEqual({ list: [third], totals: 1, series: 1, export: 1 })
  expect((await viewsOf(owner, base)).totals).toBe(3)
  const detail = async (person: Person, id: string) => (await person.json('GET', `${base}/usage/requests/${id}`)).status
  expect([await detail(ada, first), await detail(bob, first), await detail(bob, third)]).toEqual([200, 404, 200])
  const report = await fetch(`${gateway.url}/v1/usage/report`, { headers: { authorization: `Bearer ${key}` } })
  expect(((await report.json()) as { total: { requests: number } }).total.requests).toBe(1)
})
