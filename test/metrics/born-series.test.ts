/** Metric series whose labels are known in advance exist at zero before any traffic, for the current catalogue. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, chatStream, eventStream } from '@test/support/upstream'
import { loadCatalog } from '@/catalog/catalog'
import { assert } from '@/lib/assert'
import { createPrometheusMetrics } from '@/metrics/prometheus'
import { readSeries, type Series } from './metric-series'

let gateway: TestGateway
let customer: Customer
let first: Series

const scrape = async () => readSeries(await (await fetch(`${gateway.url}/metrics`)).text())

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    catalog: (file) => {
      const [alpha] = file.models
      file.models.push({ ...alpha, id: 'svc/beta', targets: [{ provider: 'provider1', model: 'beta-upstream' }] })
      Object.assign(alpha ?? {}, { fallback: ['svc/beta'] })
    },
  })
  first = await scrape()
  customer = await gateway.customer('1')
})
afterAll(() => gateway.stop())

function ask(path: string, body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

const messages = [{ role: 'user', content: 'Hi' }]
const chat = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  ask('/v1/chat/completions', { model: 'svc/alpha', messages, ...more }, headers)

test('every series that traffic increases exists at zero from the start', async () => {
  const { upstream } = gateway
  const text = async (answer: Promise<Response>) => (await answer).text()
  await text(chat({}, { 'idempotency-key': 'once' }))
  await text(chat({}, { 'idempotency-key': 'once' }))
  await text(chat({ temperature: 1 }, { 'idempotency-key': 'once' }))
  upstream.respond(() => Response.json(chatCompletion('Hello', null)))
  await text(ask('/v1/messages', { model: 'auto-smart', max_tokens: 9, messages }))
  upstream.respond(() => eventStream(...chatStream(['one', 'two'])))
  await text(ask('/v1/responses', { model: 'svc/beta', input: 'Hi', stream: true }))
  upstream.respond(() => eventStream(chatChunk({ role: 'assistant', content: 'Half' })))
  await text(chat({ stream: true }))
  upstream.respond((request) => {
    const isAlpha = request.body.model === 'alpha-upstream'
    return isAlpha ? new Response('no', { status: 404 }) : Response.json(chatCompletion('Hello'))
  })
  await text(chat())
  await text(ask('/v1/messages', { model: 'svc/nobody', max_tokens: 9, messages }))
  await text(ask('/v1beta/models/svc/alpha:generateContent', { contents: [] }))
  await text(ask('/v1/responses', { model: 'svc/alpha', input: 'Hi', previous_response_id: 'resp_none' }))
  await text(chat({}, { authorization: 'Bearer svc-nobody' }))
  const last = await until(async () => {
    const now = await scrape()
    return now.get('svc_flusher_lag_records') === 0 && (now.get('svc_flusher_inserted_records_total') ?? 0) >= 5 && now
  }, 'the books to be up to date')
  // Of gauges some speak of what there is: a circuit, a key, a call, a kind of drift.
  const counted = (name: string) => !/^(svc_circuit_state|svc_provider_(key_resting|calls)|svc_ledger_drift)/.test(name)
  expect([...last.keys()].filter((name) => counted(name) && !first.has(name))).toEqual([])
  const rises = (name: string) => (last.get(name) ?? 0) - (first.get(name) ?? 0)
  expect(rises('svc_idempotent_requests_total{outcome="first"}')).toBe(1)
  expect(rises('svc_idempotent_requests_total{outcome="replayed"}')).toBe(1)
  expect(rises('svc_idempotent_requests_total{outcome="reused"}')).toBe(1)
  expect(rises('svc_stored_responses_total{event="stored"}')).toBe(1)
  expect(rises('svc_stored_responses_total{event="missing"}')).toBe(1)
  expect(rises('svc_fallbacks_total{from="svc/alpha",to="svc/beta",reason="target"}')).toBe(1)
})

test('a newly sold model has its series at once, and a removed model keeps its series', async () => {
  const load = (text: string) => {
    const loaded = loadCatalog(text, {})
    assert(loaded.kind === 'loaded', 'the catalogue is sound')
    return loaded.catalog
  }
  const live = { current: load(gateway.catalogText) }
  const metrics = createPrometheusMetrics({ catalog: live })
  const requests = (model: string) =>
    `svc_requests_total{format="messages",model="${model}",provider="provider1",status="200",ending="complete"}`
  const names = async () => readSeries(await metrics.exposition())
  expect((await names()).get(requests('svc/beta'))).toBe(0)
  expect((await names()).has(requests('svc/gamma'))).toBe(false)
  live.current = load(gateway.catalogText.replaceAll('svc/beta', 'svc/gamma'))
  expect((await names()).get(requests('svc/gamma'))).toBe(0)
  expect((await names()).get(requests('svc/beta'))).toBe(0)
  metrics.refused('messages', 'svc/beta', 404)
  expect(await metrics.exposition()).toContain('model="unknown",provider="none",status="404",ending="refused"} 1')
  metrics.stop()
})

test('a catalogue of thousands of models keeps scrapes small', async () => {
  const file = JSON.parse(gateway.catalogText)
  const [alpha] = file.models
  const many = Array.from({ length: 3_000 }, (_, index) => ({ ...alpha, id: `svc/many-${index}`, fallback: [] }))
  const loaded = loadCatalog(JSON.stringify({ ...file, models: [...many, ...file.models] }), {})
  assert(loaded.kind === 'loaded', 'the catalogue is sound')
  const metrics = createPrometheusMetrics({ catalog: { current: loaded.catalog } })
  expect(readSeries(await metrics.exposition()).size).toBeLessThan(80_000)
  metrics.stop()
})
