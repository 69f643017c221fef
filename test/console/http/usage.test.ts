/** The usage routes of a whole gateway: real requests, exact sums, usage records, the export, and permissions. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, usageOf } from '@test/support/upstream'
import { ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import { usageRecord } from '@test/usage/sample-records'
import { parse } from 'csv-parse/sync'
import { formatUsd, nano, parseUsd } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'

let gateway: TestGateway
let ada: SignedInCustomer
let eve: SignedInCustomer
const requestIds: string[] = []

beforeAll(async () => {
  gateway = await startGateway({
    respond: (call, index) =>
      call.body.stream
        ? eventStream(...chatStream(['a', 'b'], usageOf(30 + index, 7)))
        : Response.json(chatCompletion('Hello', usageOf(100 + index, 11))),
  })
  ada = await signUpCustomer(gateway, '5')
  eve = await signUpCustomer(gateway, '5')
  for (let index = 0; index < 7; index++) {
    requestIds.push(
      await ask(gateway, ada.key, { stream: index % 2 === 0, model: index === 3 ? 'auto-smart' : 'svc/alpha' }),
    )
  }
  await flushed(gateway, ada.accountId)
})
afterAll(() => gateway.stop())

type Item = { requestId: string; cost: string; model: string; requestedModel: string; stream: boolean; at: string }
type List = { items: Item[]; nextCursor: string | null; searchedTo: string | null; archivedBefore: string | null }

async function get<Body>(customer: SignedInCustomer, path: string): Promise<Body> {
  const { status, body } = await customer.person.json('GET', `/dashboard/api/a/:accountId/usage${path}`)
  expect({ path, status, error: status === 200 ? null : body }).toEqual({ path, status: 200, error: null })
  return body as Body
}

describe('the list', () => {
  test('the list of requests has every charged request once, newest first, with costs equal to the ledger’s spending', async () => {
    const { items, nextCursor } = await get<List>(ada, '')
    expect(items.map((item) => item.requestId)).toEqual(requestIds.toReversed())
    expect(nextCursor).toBeNull()
    const sum = items.reduce((total, { cost }) => total + (parseUsd(cost) ?? Number.NaN), 0)
    const { spent } = await gateway.balance(ada.accountId)
    expect(sum).toBe(spent)
    expect(spent).toBeGreaterThan(0)
    const totals = await get<{ cost: string; requests: number }>(ada, '/totals')
    expect(totals).toMatchObject({ cost: formatUsd(spent), requests: 7, errors: 0, isComplete: true })
    const series = await get<{ points: { cost: string }[] }>(ada, '/series?group=key')
    const charted = series.points.reduce((total, { cost }) => total + (parseUsd(cost) ?? Number.NaN), 0)
    expect(charted).toBe(spent)
  })

  test('the list of requests has pages', async () => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: List = await get(ada, `?limit=3${cursor && `&cursor=${cursor}`}`)
      expect(page.items.length).toBeLessThanOrEqual(3)
      seen.push(...page.items.map((item) => item.requestId))
      cursor = page.nextCursor
    }
    expect(seen).toEqual(requestIds.toReversed())
  })

  test('the list of requests can be filtered by requested name, key, status and time', async () => {
    const ids = async (query: string) => (await get<List>(ada, query)).items.map((item) => item.requestId)
    expect(await ids('?requestedModel=auto-smart')).toEqual([requestIds[3] ?? ''])
    expect(await ids(`?key=${ada.keyId}&model=svc%2Falpha&status=ok&rule=usage`)).toHaveLength(7)
    expect(await ids('?status=error')).toEqual([])
    expect(await ids('?flag=late')).toEqual([])
    expect(await ids('?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00Z')).toEqual([])
  })

  test('an invalid filter of requests is refused with its field', async () => {
    for (const [query, param] of [
      ['from=yesterday', 'from'],
      ['from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
      [`cursor=${Buffer.from('[-1,0,"a"]').toString('base64url')}`, 'cursor'],
      ['key=%00', 'key'],
    ]) {
      const { status, body } = await ada.person.json('GET', `/dashboard/api/a/:accountId/usage?${query}`)
      expect({ query, status, body }).toMatchObject({
        query: query as string,
        status: 400,
        body: { error: { param: param as string | null } },
      })
    }
  })
})

describe('a usage record', () => {
  test('a usage record explains the charge to the nano-USD', async () => {
    const body = await get<Record<string, unknown>>(ada, `/requests/${requestIds[0]}`)
    const { spent } = await gateway.balance(ada.accountId)
    expect(spent).toBeGreaterThan(0)
    expect(body).toMatchObject({
      ...{ requestId: requestIds[0], model: 'svc/alpha', requestedModel: 'svc/alpha', provider: 'provider1' },
      ...{ upstreamModel: 'alpha-upstream', attempts: 1, status: 200, stream: true, routeReason: 'requested' },
      ...{ keyName: 'Test key', clientFormat: 'chat-completions', providerFormat: 'chat-completions' },
      cost: '0.000044',
      lines: [
        { class: 'input', unit: 'token', count: 30, unitPrice: '1', amount: '0.00003' },
        { class: 'output', unit: 'token', count: 7, unitPrice: '2', amount: '0.000014' },
      ],
      ...{ rounding: '0', priceNote: null, flags: [] },
      rule: { name: 'usage', words: expect.stringContaining('usage that the provider reported') },
    })
    expect((body.records as unknown[]).length).toBe(1)
  })

  test('a usage record lists tool charges beside token charges', async () => {
    const { accountId, keyId } = ada
    const usage = { uncached: 10, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 5, reasoning: 0 }
    const tools = [{ name: 'web_search', uses: 3, cost: nano(30_000_000) }]
    const facts = { requestId: 'req_tools', model: 'svc/alpha', usage, tools }
    const record = usageRecord({
      accountId,
      keyId,
      holdId: 'req_tools',
      cost: 30_020_000,
      atMs: Date.now(),
      seq: 89,
      facts,
    })
    await writeUsageBatch(gateway.gateway.database.sql, [record])
    expect(await get<object>(ada, '/requests/req_tools')).toMatchObject({
      ...{ cost: '0.03002', rounding: '0', priceNote: null },
      lines: [{ amount: '0.00001' }, { amount: '0.00001' }],
      toolLines: [{ tool: 'web_search', uses: 3, amount: '0.03' }],
    })
  })

  test('a late correction is added to its charge, and found by either id', async () => {
    const facts = { requestId: 'req_late', usage: { ...usageRecord().facts.usage, uncached: 1, cacheRead: 0 } }
    const { accountId, keyId } = ada
    const holdId = 'req_late'
    const atMs = Date.now()
    const expired = usageRecord({ accountId, keyId, holdId, cost: 5_000, kind: 'expire', atMs, seq: 90, facts })
    const late = {
      ...expired,
      kind: 'late' as const,
      recordId: 'req_late:late',
      cost: nano(-2_000),
      seq: 91,
      flags: ['late' as const],
    }
    await writeUsageBatch(gateway.gateway.database.sql, [expired, { ...late, atMs: atMs + 5 }])
    for (const id of ['req_late', 'req_late%3Alate']) {
      expect(await get<object>(ada, `/requests/${id}`)).toMatchObject({
        cost: '0.000003',
        records: [
          { kind: 'expire', cost: '0.000005' },
          { kind: 'late', cost: '-0.000002' },
        ],
        ...{ lines: null, rounding: null, priceNote: expect.stringContaining('What was charged stands') },
        flags: [{ name: 'late', words: expect.stringContaining('correction') }],
      })
    }
  })
})

describe('another account', () => {
  test('another account sees none of these requests, in lists, sums, charts, records or exports', async () => {
    expect(await get<List>(eve, '')).toEqual({ items: [], nextCursor: null, searchedTo: null, archivedBefore: null })
    expect(await get<List>(eve, `?key=${ada.keyId}`)).toMatchObject({ items: [] })
    expect(await get<object>(eve, '/totals')).toMatchObject({ requests: 0, cost: '0' })
    expect(await get<object>(eve, '/series')).toMatchObject({ points: [] })
    expect(await get<object>(eve, '/choices')).toMatchObject({ keys: [{ keyId: eve.keyId }], models: [] })
    const record = await eve.person.json('GET', `/dashboard/api/a/:accountId/usage/requests/${requestIds[0]}`)
    expect(record.status).toBe(404)
    const file = await eve.person.fetch('/dashboard/api/a/:accountId/usage/export')
    expect((await file.text()).trim().split('\r\n')).toHaveLength(1)
  })
})

describe('the export', () => {
  test('the export is a CSV file of all matching requests with exact amounts', async () => {
    const response = await ada.person.fetch(
      '/dashboard/api/a/:accountId/usage/export?rule=usage&status=ok&from=2020-01-01T00:00:00Z',
    )
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="usage-[\d-]+-to-[\d-]+\.csv"$/)
    const rows: Record<string, string>[] = parse(await response.text(), { columns: true })
    expect(rows.filter((row) => row.request_id === requestIds[0])).toEqual([
      expect.objectContaining({ cost_usd: '0.000044', model: 'svc/alpha', input_tokens: '30', output_tokens: '7' }),
    ])
    for (const row of rows) expect(row.time_utc).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('the JSON export has an object per line with the names and amounts of the CSV', async () => {
    const path = '/dashboard/api/a/:accountId/usage/export?from=2020-01-01T00:00:00Z'
    const response = await ada.person.fetch(`${path}&format=jsonl`)
    expect(response.headers.get('content-type')).toBe('application/jsonl; charset=utf-8')
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="usage-[\d-]+-to-[\d-]+\.jsonl"$/,
    )
    const lines = (await response.text()).split('\n')
    expect(lines.pop()).toBe('')
    const objects = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const rows: Record<string, string>[] = parse(await (await ada.person.fetch(path)).text(), { columns: true })
    expect(objects.map((one) => Object.keys(one))).toEqual(rows.map((row) => Object.keys(row)))
    expect(objects.map((one) => [one.request_id, one.cost_usd])).toEqual(
      rows.map((row) => [row.request_id, row.cost_usd]),
    )
    expect(objects.find((one) => one.request_id === requestIds[0])).toMatchObject({
      ...{ cost_usd: '0.000044', model: 'svc/alpha', input_tokens: 30, output_tokens: 7, flags: [], tool_uses: [] },
    })
    expect((await ada.person.json('GET', `${path}&format=xlsx`)).status).toBe(400)
  })

  test('the export escapes formulas and keeps negative amounts', async () => {
    const { accountId } = eve
    const evil = await gateway.apiKeys.create({ accountId, name: '=HYPERLINK("http://evil.test","x")' })
    if (evil.kind !== 'created') throw new Error(evil.kind)
    const names = ['+1', '-1', '@SUM(A1)', '\tx', '\rx', 'a,"b"\nc']
    const events = names.map((provider, index) =>
      usageRecord({ accountId, keyId: evil.keyId, seq: index + 1, atMs: Date.now(), facts: { provider } }),
    )
    const late = usageRecord({ accountId, keyId: evil.keyId, seq: 50, atMs: Date.now(), cost: -1_500, kind: 'late' })
    await writeUsageBatch(gateway.gateway.database.sql, [...events, late])
    const response = await eve.person.fetch(`/dashboard/api/a/:accountId/usage/export?key=${evil.keyId}`)
    const rows: Record<string, string>[] = parse(await response.text(), { columns: true })
    expect(rows.map((row) => row.provider).sort()).toEqual(
      ["'\tx", "'\rx", "'+1", "'-1", "'@SUM(A1)", 'a,"b"\nc', 'provider1'].sort(),
    )
    expect(new Set(rows.map((row) => row.key_name))).toEqual(new Set([`'=HYPERLINK("http://evil.test","x")`]))
    expect(rows.map((row) => row.cost_usd)).toContain('-0.0000015')
  })

  test('the export streams thousands of rows, each once, and ends when the client disconnects', async () => {
    const grace = await signUpCustomer(gateway, '1')
    const [ROWS, startMs] = [5_000, Date.now() - 3_600_000]
    for (let first = 0; first < ROWS; first += 2_500) {
      const events = Array.from({ length: 2_500 }, (_, index) =>
        usageRecord({
          accountId: grace.accountId,
          keyId: grace.keyId,
          seq: first + index + 1,
          atMs: startMs + first + index,
        }),
      )
      await writeUsageBatch(gateway.gateway.database.sql, events)
    }
    const whole = await grace.person.fetch('/dashboard/api/a/:accountId/usage/export')
    const ids = (await whole.text())
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[2])
    expect([ids.length, new Set(ids).size]).toEqual([ROWS, ROWS])

    // Two exports at once are all an account may have: that a third one begins shows that the first two have ended.
    for (let round = 0; round < 5; round++) {
      const response = await until(async () => {
        const answer = await grace.person.fetch('/dashboard/api/a/:accountId/usage/export')
        if (answer.status === 200) return answer
        await answer.text()
        return undefined
      }, 'an export to be let in')
      const reader = response.body?.getReader()
      await reader?.read()
      await reader?.cancel()
    }
  })
})
