/** A key that is transferred while it is used: running requests are charged to the member who started them, and the books agree. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { connect } from '@test/ledger/harness'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { startRedis, type TestServer } from '@test/support/stores'
import { chatChunk, chatCompletion, type LiveStream, liveStream, usageChunk, usageOf } from '@test/support/upstream'
import { addCredit, ask, flushed } from '@test/usage/customer'
import { createLedgerHistory } from '@/accounts/history'
import { checkLedger } from '@/ledger/check/check'

/** 10 tokens in and 5 out, at 1,000 and 2,000 nano-USD. */
const COST_USD = '0.00002'
let redis: TestServer
let gateway: TestGateway
let stream: LiveStream | undefined

beforeAll(async () => {
  redis = await startRedis()
  const respond = () => stream?.response ?? Response.json(chatCompletion('Hello', usageOf(10, 5)))
  gateway = await startGateway({ respond, redisUrl: redis.url })
})
afterAll(async () => {
  await gateway.stop()
  await redis.stop()
})

async function newMember(accountId: string): Promise<Person> {
  const person = await signUpPerson(gateway)
  await gateway.gateway.database.sql`
    INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${person.viewer.userId}, 'developer')`
  return person
}

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

test('11: if a key is transferred while a stream runs, the first member is charged; the check finds no difference', async () => {
  const owner = await signUpPerson(gateway)
  const { accountId } = owner.viewer
  const account = `/dashboard/api/a/${accountId}`
  await addCredit(gateway, accountId, '5')
  const [first, second] = [await newMember(accountId), await newMember(accountId)]
  for (const { viewer } of [first, second]) {
    const set = await owner.json('PUT', `${account}/budgets/member/${viewer.userId}`, { totalUsd: '1' })
    expect(set.status).toBe(200)
  }
  const { body } = await first.json('POST', `${account}/keys`, { name: 'shared' })
  const { key, item } = body as { key: string; item: { id: string } }

  stream = liveStream()
  const asked = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  stream.write(event(chatChunk({ role: 'assistant', content: 'Hello' })))
  const answer = await asked
  const transferred = await owner.json('POST', `${account}/keys/${item.id}/transfer`, { userId: second.viewer.userId })
  expect([answer.status, transferred.status]).toEqual([200, 200])
  for (const last of [chatChunk({}, 'stop'), usageChunk(usageOf(10, 5)), '[DONE]']) stream.write(event(last))
  stream.close()
  stream = undefined
  expect(await answer.text()).toContain('[DONE]')
  for (let next = 0; next < 2; next++) await ask(gateway, key)

  await flushed(gateway, accountId)
  const spentBy = async ({ viewer }: Person) => {
    const budget = await owner.json('GET', `${account}/budgets/member/${viewer.userId}`)
    const { heldUsd, windows } = budget.body as { heldUsd: string; windows: { window: string; spentUsd: string }[] }
    return { heldUsd, spentUsd: windows.map(({ spentUsd }) => spentUsd) }
  }
  expect(await spentBy(first)).toEqual({ heldUsd: '0', spentUsd: Array(4).fill(COST_USD) })
  expect(await spentBy(second)).toEqual({ heldUsd: '0', spentUsd: Array(4).fill('0.00004') })
  const client = await connect(redis.url)
  const history = createLedgerHistory(gateway.gateway.database)
  const report = await checkLedger({ redis: client, history, logger: silentLogger })
  client.disconnect()
  expect([report.violations, report.openHolds]).toEqual([[], 0])
})
