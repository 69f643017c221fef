/** Account limits that the operator sets: they apply to all keys, and only an administrator changes them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import { createCredits } from '@/accounts/credits'
import { nano } from '@/lib/money'

const PATH = '/dashboard/api/a/:accountId/keys'
const REASON = 'a contract of its own'
let gateway: TestGateway
let administrator: Person
let person: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    catalog(file) {
      file.limits = { requestsPerMinute: 5, tokensPerMinute: 1_000_000_000, concurrency: 50 }
    },
  })
  administrator = await signUpPerson(gateway, { role: 'admin' })
  person = await signUpPerson(gateway)
  const { accountId } = person.viewer
  const { database, deps } = gateway.gateway
  await createCredits(database, deps.ledger).addCredit({ accountId, amount: nano(10e9), reference: 'test' })
})
afterAll(() => gateway.stop())

async function createKey(limits: object = {}): Promise<{ key: string; id: string }> {
  const { status, body } = await person.json('POST', PATH, { name: 'k', ...limits })
  expect(status).toBe(200)
  const { key, item } = body as { key: string; item: { id: string } }
  return { key, id: item.id }
}

async function call(key: string): Promise<{ status: number; message: string; limit: string | null }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const { error } = (await response.json()) as { error?: { message: string } }
  const limit = response.headers.get('x-ratelimit-limit-requests')
  return { status: response.status, message: error?.message ?? '', limit }
}

function setLimits(by: Person, limits: object, accountId = person.viewer.accountId) {
  const none = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null }
  const path = `/dashboard/api/admin/accounts/${accountId}/limits`
  return by.json('POST', path, { ...none, ...limits, reason: REASON })
}

describe('a member', () => {
  test('S5: a key’s limits cannot exceed the account’s, at creation or later', async () => {
    const wish = { requestsPerMinute: 2_000_000_000 }
    const created = await person.json('POST', PATH, { name: 'greedy', ...wish })
    expect(created).toMatchObject({ status: 400, body: { error: { param: 'requestsPerMinute' } } })
    const { id } = await createKey({ requestsPerMinute: 4 })
    const changed = await person.json('PATCH', `${PATH}/${id}`, wish)
    expect(changed.body).toMatchObject({
      error: { message: expect.stringContaining('at most 5'), param: 'requestsPerMinute' },
    })
    expect((await person.json('GET', `${PATH}/${id}`)).body).toMatchObject({
      item: { limits: { requestsPerMinute: 4 } },
    })
  })

  test('S29: more keys do not raise the account’s limit, and the refusal says that the account’s limit applies', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => createKey()))
    const answers = await Promise.all(keys.map(({ key }) => call(key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    const refused = answers.filter(({ status }) => status !== 200)
    for (const answer of refused) {
      const message = 'Rate limit reached: 5 requests per minute for all API keys of this account together.'
      expect(answer).toEqual({ status: 429, message, limit: '5' })
    }
  })

  test('members see the account’s limits', async () => {
    expect((await person.json('GET', PATH)).body).toMatchObject({ ceilings: { requestsPerMinute: 5, concurrency: 50 } })
  })
})

describe('an administrator', () => {
  test('an administrator raises and lowers the account’s limits at once, with reason and audit entry', async () => {
    const { accountId } = person.viewer
    const raised = await setLimits(administrator, { requestsPerMinute: 60_000 })
    expect(raised).toMatchObject({ status: 200, body: { requestsPerMinute: 60_000, concurrency: null } })
    const view = await administrator.json('GET', `/dashboard/api/admin/accounts/${accountId}`)
    expect(view.body).toMatchObject({ limits: { requestsPerMinute: 60_000 }, defaultLimits: { requestsPerMinute: 5 } })
    const { key } = await createKey({ requestsPerMinute: 50_000 })
    for (let sent = 0; sent < 6; sent++) expect((await call(key)).status).toBe(200)
    await setLimits(administrator, { requestsPerMinute: 1 })
    await call(key)
    expect((await call(key)).message).toContain('1 requests per minute for all API keys')
    await setLimits(administrator, {})
    const entries = await gateway.gateway.database.sql`
      SELECT actor_email, details FROM audit_entries WHERE action = 'account.limits' ORDER BY seq`
    const [first] = entries
    expect(entries).toHaveLength(3)
    expect(first).toEqual({
      actor_email: administrator.email,
      details: { requestsPerMinute: 60_000, 'before.requestsPerMinute': null, reason: REASON },
    })
  })

  test.each([0, -1, 1.5, '5', 3_000_000_000])(
    'an administrator cannot set an account’s limits to %p',
    async (requestsPerMinute) => {
      expect((await setLimits(administrator, { requestsPerMinute })).status).toBe(400)
    },
  )

  test('an administrator gets a 404 for an unknown account', async () => {
    expect((await setLimits(administrator, { concurrency: 1 }, 'acct_none')).status).toBe(404)
  })
})
