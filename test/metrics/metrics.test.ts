/** /metrics of a whole gateway: a request changes exactly its series, and labels contain no secret or unbounded value. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, chatStream, eventStream, liveStream, usageOf } from '@test/support/upstream'
import { changes, readSeries, type Series } from './metric-series'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  customer = await gateway.customer('1')
})
afterAll(() => gateway.stop())

const LANE = 'format="chat-completions",model="svc/alpha",provider="provider1"'

function ask(body: Record<string, unknown>, key = customer.key, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    ...(signal && { signal }),
  })
}

const scrape = async (): Promise<Series> => readSeries(await (await fetch(`${gateway.url}/metrics`)).text())

/** What `act` changes of requests, tokens, cost, rules and flags; a broken stream is counted just after its client saw the end. */
async function counted(act: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await scrape()
  await act()
  return until(async () => {
    const changed = changes(before, await scrape(), /^svc_(requests|tokens|cost_usd|charges|charge_flags)_/)
    // The request comes last.
    return Object.keys(changed).some((name) => name.startsWith('svc_requests_total')) && changed
  }, 'the request to be counted')
}

describe('counting a request', () => {
  test('a request counts once, with tokens by class, cost and rule, and once in each histogram', async () => {
    const usage = { ...usageOf(10, 5), prompt_tokens_details: { cached_tokens: 4 } }
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello', usage)))
    const before = await scrape()
    await (await ask({})).text()
    const after = await scrape()
    const cost = changes(before, after, /^svc_cost_usd_total/)
    expect(Object.keys(cost)).toEqual([`svc_cost_usd_total{${LANE}}`])
    expect(cost[`svc_cost_usd_total{${LANE}}`]).toBeCloseTo(0.0000164, 12)
    expect(changes(before, after, /^svc_(requests|tokens|charges|charge_flags)_/)).toEqual({
      [`svc_requests_total{${LANE},status="200",ending="complete"}`]: 1,
      [`svc_tokens_total{${LANE},class="input"}`]: 6,
      [`svc_tokens_total{${LANE},class="cache_read"}`]: 4,
      [`svc_tokens_total{${LANE},class="output"}`]: 5,
      'svc_charges_total{rule="usage"}': 1,
    })
    expect(changes(before, after, /^svc_(overhead|time_to|request).*_seconds_count/)).toEqual({
      svc_overhead_seconds_count: 1,
      'svc_request_duration_seconds_count{model="svc/alpha",provider="provider1"}': 1,
    })
  })

  test('a stream counts its time to the first token', async () => {
    gateway.upstream.respond(() => eventStream(...chatStream(['one', 'two'])))
    const before = await scrape()
    await (await ask({ stream: true })).text()
    expect(changes(before, await scrape(), /^svc_time_to_first_token_seconds_count/)).toEqual({
      'svc_time_to_first_token_seconds_count{model="svc/alpha",provider="provider1"}': 1,
    })
  })

  test('a request without usage counts as estimated', async () => {
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello', null)))
    expect(await counted(async () => (await ask({})).text())).toMatchObject({
      'svc_charges_total{rule="counted"}': 1,
      'svc_charge_flags_total{flag="estimated"}': 1,
    })
  })

  test('a request whose stream breaks counts as broken, although its status is 200', async () => {
    gateway.upstream.respond(() => eventStream(chatChunk({ role: 'assistant', content: 'Half' })))
    expect(await counted(async () => (await ask({ stream: true })).text())).toMatchObject({
      [`svc_requests_total{${LANE},status="200",ending="broken"}`]: 1,
      'svc_charges_total{rule="broken_counted"}': 1,
    })
  })

  test('a request whose client disconnects counts as disconnected', async () => {
    const live = liveStream()
    gateway.upstream.respond(() => live.response)
    live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'Half' }))}\n\n`)
    const abort = new AbortController()
    const name = `svc_requests_total{${LANE},status="499",ending="disconnected"}`
    const before = (await scrape()).get(name) ?? 0
    const reader = (await ask({ stream: true }, customer.key, abort.signal)).body?.getReader()
    await reader?.read()
    expect((await scrape()).get('svc_open_streams')).toBe(1)
    expect((await scrape()).get('svc_open_holds')).toBe(1)
    abort.abort()
    await until(async () => (await scrape()).get(name) === before + 1, 'the hang-up to be counted')
    await until(async () => (await scrape()).get('svc_open_streams') === 0, 'the stream to be closed')
    await until(async () => (await scrape()).get('svc_open_holds') === 0, 'its hold to be given back')
  })

  test('a request that is refused counts as refused, without a charge', async () => {
    gateway.upstream.respond(() => Response.json({ error: { message: 'roles' } }, { status: 400 }))
    expect(await counted(async () => (await ask({})).text())).toEqual({
      'svc_requests_total{format="chat-completions",model="svc/alpha",provider="none",status="400",ending="refused"}': 1,
    })
  })
})

describe('labels', () => {
  const refused = (model: string, status: number) =>
    `svc_requests_total{format="chat-completions",model="${model}",provider="none",status="${status}",ending="refused"}`

  test('labels never contain text that a client chose', async () => {
    const made = 'svc/made-up-by-a-client'
    const found = await counted(async () => {
      for (let index = 0; index < 3; index++) await (await ask({ model: `${made}-${index}` })).text()
    })
    expect(found).toEqual({ [refused('unknown', 404)]: 3 })
    expect(await counted(async () => (await ask({}, 'svc-nobody')).text())).toEqual({ [refused('none', 401)]: 1 })
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(text).not.toContain(made)
  })

  test('labels and values contain no secret and no account', async () => {
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
    await (await ask({})).text()
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    for (const secret of ['secret-canary', customer.key, customer.accountId, customer.keyId]) {
      expect(text).not.toContain(secret)
    }
  })
})

test('metrics show the state of the books in Prometheus’ format, without a credential', async () => {
  // An answer ends before the ledger has said that its charge is there.
  await until(async () => (await scrape()).get('svc_unacknowledged_settlements') === 0, 'the last charge to be there')
  const response = await fetch(`${gateway.url}/metrics`)
  expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  const text = await response.text()
  expect(text).toContain('# TYPE svc_flusher_dead_letters_total counter')
  const series = readSeries(text)
  for (const name of [
    'svc_unacknowledged_settlements',
    'svc_settlement_failures_total',
    'svc_renewal_failures_total',
    'svc_flusher_dead_letters_total',
    'svc_ledger_drift_violations{kind="total"}',
    'svc_provider_key_refused_total{provider="provider1"}',
    'svc_unknown_usage_total{provider="provider1"}',
  ]) {
    expect([name, series.get(name)]).toEqual([name, 0])
  }
  expect(series.get('svc_flusher_healthy')).toBe(1)
  for (const name of ['process_resident_memory_bytes', 'svc_event_loop_lag_seconds_count', 'process_open_fds']) {
    expect(series.has(name)).toBe(true)
  }
  await until(async () => {
    const now = await scrape()
    return now.get('svc_flusher_lag_records') === 0 && (now.get('svc_flusher_inserted_records_total') ?? 0) > 0
  }, 'the history to catch up')
})

test('tokens of a class without a price are counted in the metric of the alert, streamed or not', async () => {
  const pattern = /^svc_unknown_usage_total/
  const completion = chatCompletion('Hello')
  const before = await scrape()
  gateway.upstream.respond(() => Response.json({ ...completion, usage: { ...completion.usage, video_tokens: 9 } }))
  expect((await ask({})).status).toBe(200)
  gateway.upstream.respond(() => Response.json({ ...completion, usage: { ...completion.usage, video_tokens: 0 } }))
  expect((await ask({})).status).toBe(200)
  const counted = { 'svc_unknown_usage_total{provider="provider1"}': 1 }
  expect(changes(before, await scrape(), pattern)).toEqual(counted)
})

test('repaired answers are counted once per field', async () => {
  const before = await scrape()
  const { usage: _, object: __, ...broken } = chatCompletion('Hello')
  gateway.upstream.respond(() => Response.json(broken))
  expect((await ask({})).status).toBe(200)
  const chunk = { ...chatChunk({ role: 'assistant', content: 'Hi' }), object: '' }
  gateway.upstream.respond(() => eventStream(chunk, chunk, { ...chatChunk({}, 'stop'), object: '' }, '[DONE]'))
  expect((await ask({ stream: true, stream_options: { include_usage: true } })).status).toBe(200)
  await until(async () => {
    const counted = changes(before, await scrape(), /^svc_answer_repairs_total/)
    return Bun.deepEquals(counted, {
      'svc_answer_repairs_total{provider="provider1",field="object"}': 2,
      'svc_answer_repairs_total{provider="provider1",field="role"}': 1,
      'svc_answer_repairs_total{provider="provider1",field="usage"}': 2,
    })
  }, 'the repairs to be counted')
})

test('attempts are counted by provider and outcome, and a refused provider key in the metric of the alert', async () => {
  const attempt = (outcome: string) => `svc_upstream_attempts_total{provider="provider1",outcome="${outcome}"}`
  const pattern = /^svc_(upstream_attempts|provider_key_refused)_total/
  gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
  const before = await scrape()
  await (await ask({})).text()
  const answered = await scrape()
  expect(changes(before, answered, pattern)).toEqual({ [attempt('answered')]: 1 })
  gateway.upstream.respond(() => Response.json({ error: { message: 'bad key' } }, { status: 401 }))
  expect((await ask({})).status).toBe(502)
  expect(changes(answered, await scrape(), pattern)).toEqual({
    [attempt('credentials')]: 1,
    'svc_provider_key_refused_total{provider="provider1"}': 1,
  })
})
