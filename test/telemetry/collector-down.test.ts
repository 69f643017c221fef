/** A collector that is unreachable, silent or refuses: spans are lost and counted, no request waits, memory is bounded. */
import { afterEach, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { freePort } from '@/boot/embedded/free-port'
import { startTracedGateway, type TracedGateway } from './traced-gateway'

const BODY = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }
const REQUESTS = 60
const QUEUE = 40

let world: TracedGateway
afterEach(() => world.receiver.stop())

async function start(environment: Record<string, string> = {}): Promise<void> {
  world = await startTracedGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    environment: {
      OTEL_BSP_MAX_QUEUE_SIZE: String(QUEUE),
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
      ...environment,
    },
  })
}

async function askMany(): Promise<void> {
  const statuses = await Promise.all(
    Array.from({ length: REQUESTS }, async () => {
      const response = await world.post('/v1/chat/completions', BODY)
      await response.text()
      return response.status
    }),
  )
  expect(statuses.every((status) => status === 200)).toBe(true)
}

async function lost(reason: string): Promise<number> {
  const text = await world.gateway.gateway.deps.metrics.exposition()
  return Number(new RegExp(`svc_telemetry_lost_total\\{signal="traces",reason="${reason}"\\} (\\d+)`).exec(text)?.[1])
}

const warnings = () => world.gateway.logLines.filter((line) => line.includes('"telemetry_lost"'))

describe('a failing collector', () => {
  test('an unreachable collector loses spans, is logged once, and delays no request', async () => {
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` })
    await askMany()
    await until(async () => (await lost('export_failed')) > 0, 'a failed export')
    expect(warnings()).toHaveLength(1)
    await world.gateway.stop()
  })

  test('a hanging collector leaves no more spans in memory than the queue and the open batches', async () => {
    await start({ OTEL_EXPORTER_OTLP_TIMEOUT: '600000' })
    world.receiver.refuse(() => new Promise(() => undefined))
    await askMany()
    await until(async () => (await lost('queue_full')) > 0, 'a full queue')
    const before = await lost('queue_full')
    await askMany()
    // All that came since, but what still found a place.
    expect((await lost('queue_full')) - before).toBeGreaterThan(REQUESTS * 5 - QUEUE - 10)
    expect(warnings()).toHaveLength(1)
    // An export that is under way would outlast this test.
    await world.gateway.stop()
  })

  test('spans that a collector refused are not sent again', async () => {
    await start()
    world.receiver.refuse(() => new Response('canary of the collector', { status: 400 }))
    await (await world.post('/v1/chat/completions', BODY)).text()
    await until(async () => (await lost('export_failed')) >= 5, 'the refused spans')
    expect(world.receiver.seen.filter(({ path }) => path === '/v1/traces').length).toBeLessThanOrEqual(5)
    expect(warnings().join()).not.toContain('canary')
    world.receiver.refuse(undefined)
    await (await world.post('/v1/chat/completions', BODY)).text()
    await world.spansOf()
    await world.gateway.stop()
  })

  test('a reachable collector gets all spans before the gateway stops', async () => {
    await start({
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      OTEL_BSP_MAX_QUEUE_SIZE: '2000',
      OTEL_METRIC_EXPORT_INTERVAL: '600000',
    })
    await askMany()
    await world.gateway.stop()
    expect(world.receiver.spans.filter(({ kind }) => kind === 2)).toHaveLength(REQUESTS)
    const points = world.receiver.metrics.get('svc_requests_total')?.points ?? []
    expect(points.reduce((sum, { value = 0 }) => sum + value, 0)).toBe(REQUESTS)
  })
})
