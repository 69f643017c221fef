/** Provider costs: administrators see margins and count gaps, customers see neither. */
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, chatStream, eventStream, usageOf } from '@test/support/upstream'
import { ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'

const ADMIN = '/dashboard/api/admin'
/** Figures that stand nowhere else. */
const COST = { costPer1mInputTokens: 123.457, costPer1mOutputTokens: 456.789 }

const NONE = { thrownAwayCalls: 0, thrownAway: '0' }

let gateway: TestGateway
let ada: SignedInCustomer
let admin: Person
let requestId: string
let flaggedId: string

beforeAll(async () => {
  ;({ gateway, ada, admin } = await open())
})
afterAll(() => gateway.stop())

async function open() {
  const opened = await startGateway({
    respond: ({ body }) => {
      const isLong = JSON.stringify(body).includes('long')
      const usage = usageOf(isLong ? 9_000 : 100, 10)
      return body.stream ? eventStream(...chatStream(['a'], usage)) : Response.json(chatCompletion('Hello', usage))
    },
    catalog(file) {
      const [alpha] = file.models
      file.models.push({ ...alpha, id: 'svc/uncosted' })
      Object.assign(alpha ?? {}, { pricing: { ...(alpha?.pricing as object), ...COST } })
    },
  })
  const customer = await signUpCustomer(opened, '5')
  return { gateway: opened, ada: customer, admin: await signUpPerson(opened, { role: 'admin' }) }
}

/** Three requests that are booked: a stream, one that is counted differently, and one whose cost nobody knows. */
async function askForAll(at: TestGateway, { key, accountId }: SignedInCustomer): Promise<[string, string]> {
  const streamed = await ask(at, key, { stream: true })
  const content = `long ${'word '.repeat(2_000)}`
  const flagged = await ask(at, key, { messages: [{ role: 'user', content }] })
  await ask(at, key, { model: 'svc/uncosted' })
  await flushed(at, accountId)
  return [streamed, flagged]
}

test('without sales the margins are empty', async () => {
  const { body } = await admin.json('GET', `${ADMIN}/margins`)
  expect(body).toMatchObject({ total: { requests: 0, charged: '0', cost: null, margin: null }, models: [], days: [] })
  expect((await admin.json('GET', `${ADMIN}/count-gaps`)).body).toEqual({ items: [], nextCursor: null })
})

test('margins are listed by model and day, unknown costs separately', async () => {
  const own = await open()
  try {
    await askForAll(own.gateway, own.ada)
    const { body } = await own.admin.json('GET', `${ADMIN}/margins?days=2`)
    // 9,100 tokens in and 20 out, at 1 and 2 USD a million, for 123.457 and 456.789.
    const alpha = { requests: 2, charged: '0.00914', cost: '1.13259448', margin: '-1.12345448', uncosted: '0', ...NONE }
    const uncosted = { requests: 1, charged: '0.00012', cost: null, margin: null, uncosted: '0.00012', ...NONE }
    const day = new Date().toISOString().slice(0, 10)
    expect(body).toEqual({
      from: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
      total: { ...alpha, requests: 3, charged: '0.00926', uncosted: '0.00012' },
      models: [
        { model: 'svc/alpha', ...alpha },
        { model: 'svc/uncosted', ...uncosted },
      ],
      days: [
        { day, model: 'svc/alpha', ...alpha },
        { day, model: 'svc/uncosted', ...uncosted },
      ],
    })
    expect((await own.admin.json('GET', `${ADMIN}/margins?days=0`)).status).toBe(400)
  } finally {
    await own.gateway.stop()
  }
})

describe('margins after some requests', () => {
  beforeAll(async () => {
    ;[requestId, flaggedId] = await askForAll(gateway, ada)
  })

  test('count gaps are listed and can be filtered', async () => {
    const { body } = await admin.json('GET', `${ADMIN}/count-gaps?gap=input_over&accountId=${ada.accountId}`)
    expect(body).toMatchObject({
      nextCursor: null,
      items: [
        {
          ...{ requestId: flaggedId, accountId: ada.accountId, model: 'svc/alpha', provider: 'provider1' },
          ...{ gaps: ['input_over'], providerInput: 9_000, providerOutput: 10, basis: 'provider', cost: '0.00902' },
          providerCost: '1.11568089',
        },
      ],
    })
    for (const filter of ['gap=clamped', 'accountId=acct_other', 'provider=provider9']) {
      expect((await admin.json('GET', `${ADMIN}/count-gaps?${filter}`)).body).toMatchObject({ items: [] })
    }
    expect((await admin.json('GET', `${ADMIN}/count-gaps?gap=odd`)).status).toBe(400)
    expect((await admin.json('GET', `${ADMIN}/count-gaps?cursor=odd`)).status).toBe(400)
  })

  test('pages of count gaps follow each other', async () => {
    const second = await ask(gateway, ada.key, {
      messages: [{ role: 'user', content: `long ${'word '.repeat(2_000)}` }],
    })
    await flushed(gateway, ada.accountId)
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await admin.json('GET', `${ADMIN}/count-gaps?limit=1${cursor && `&cursor=${cursor}`}`)
      const page = body as { items: { requestId: string }[]; nextCursor: string | null }
      seen.push(...page.items.map((item) => item.requestId))
      cursor = page.nextCursor
    }
    expect(seen).toEqual([second, flaggedId])
  })

  test('customers see no provider cost, neither of models nor of requests', async () => {
    const own = { authorization: `Bearer ${ada.key}` }
    const open = ['/v1/models', '/v1/models/svc/alpha', '/v1beta/models', '/v1/usage']
    const texts = await Promise.all(
      open.map(async (path) => (await fetch(gateway.url + path, { headers: own })).text()),
    )
    const pages = ['overview', 'usage', 'usage/export', 'usage/totals', 'usage/choices']
    const records = [requestId, flaggedId].map((id) => `usage/requests/${id}`)
    const ofAccount = [...pages, ...records].map((path) => `/a/:accountId/${path}`)
    for (const path of ['/models', ...ofAccount]) {
      const response = await ada.person.fetch(`/dashboard/api${path}`)
      expect([path, response.status]).toEqual([path, 200])
      texts.push(await response.text())
    }
    const record = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...own, 'content-type': 'application/json', 'x-svc-usage-record': 'true' },
      body: JSON.stringify({ model: 'svc/alpha', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    })
    texts.push(JSON.stringify([...record.headers]), await record.text())
    expect(texts.join('\n')).toContain('usage_record')
    for (const text of texts) {
      expect(text).not.toMatch(/costPer1m|provider_?cost|count_?gap|charge_?basis|local_?input/i)
      expect(text).not.toMatch(/123\.?457|456\.?789|1\.1156|1\.1325/)
    }
  })
})
