/** Prometheus' own checker accepts all metrics: names, types, units and help texts. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { promtool } from '@test/support/promtool'
import { chatCompletion, chatStream, eventStream } from '@test/support/upstream'
import { createPrometheusMetrics } from '@/metrics/prometheus'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

test('promtool accepts the metrics of a busy gateway', async () => {
  const { key } = await gateway.customer('1')
  const ask = async (body: Record<string, unknown>) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const text = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], ...body })
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body: text })).text()
  }
  await ask({})
  gateway.upstream.respond(() => eventStream(...chatStream(['one', 'two'])))
  await ask({ stream: true })
  await ask({ model: 'svc/"nobody"\n\\' })
  const exposition = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(exposition).toContain(
    'svc_time_to_first_token_seconds_bucket{model="svc/alpha",provider="provider1",le="+Inf"} 1',
  )
  expect(await promtool(['check', 'metrics'], exposition)).toEqual({ code: 0, said: '' })
})

test('promtool accepts the metrics of an idle gateway', async () => {
  const { catalog } = gateway.gateway.deps
  const metrics = createPrometheusMetrics({ catalog })
  expect(await promtool(['check', 'metrics'], await metrics.exposition())).toEqual({ code: 0, said: '' })
  metrics.stop()
})
