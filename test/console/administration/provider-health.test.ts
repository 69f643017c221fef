/** The health of providers for administrators: after answers, after a refused key, and without secrets. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import { assert } from '@/lib/assert'

let gateway: TestGateway
let key: string

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok')),
    catalog: (file) => {
      const [alpha] = file.models
      const targets = [{ provider: 'provider2', model: 'beta-upstream' }]
      file.providers.provider2 = {
        ...file.providers.provider1,
        keys: ['sk-provider2-secret-canary'],
        maxConcurrency: 7,
      }
      file.models.push({ ...alpha, id: 'svc/beta', name: 'Beta', targets, fallback: ['svc/alpha'] })
    },
  })
  key = (await gateway.customer('5')).key
})
afterAll(() => gateway.stop())

async function ask(model: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  return response.status
}

function healthOf(name: string) {
  const report = gateway.gateway.deps.dashboard.administration.health()
  const provider = report.providers.find((item) => item.provider === name)
  assert(provider, 'every provider of the catalogue is reported')
  return { provider, report }
}

describe('the health report', () => {
  test('the health report has every provider and target before the first request', () => {
    const { provider } = healthOf('provider2')
    expect(provider).toMatchObject({ inFlight: 0, queued: 0, limit: 7, attempts: [], retries: 0 })
    expect(provider.keys).toMatchObject([{ state: 'usable', forMs: 0 }])
    expect(provider.targets).toMatchObject([
      {
        model: 'svc/beta',
        target: 'provider2/beta-upstream',
        circuit: 'closed',
        latencyMs: { stream: null, whole: null },
      },
    ])
    expect(healthOf('provider1').provider.limit).toBeNull()
  })

  test('the health report has the number of answers and their latency', async () => {
    expect(await ask('svc/alpha')).toBe(200)
    const { provider } = healthOf('provider1')
    expect(provider.attempts).toMatchObject([{ outcome: 'answered', count: 1 }])
    expect(provider.targets[0]?.recent).toMatchObject({ all: 1, failed: 0 })
    expect(provider.targets[0]?.latencyMs.whole).toBeGreaterThanOrEqual(0)
  })

  test('the health report shows a refused provider key and the fallback, and no secret', async () => {
    gateway.upstream.respond((call) =>
      call.headers.get('authorization')?.includes('provider2')
        ? Response.json({ error: { message: 'bad key sk-provider2-secret-canary' } }, { status: 401 })
        : Response.json(chatCompletion('ok')),
    )
    expect(await ask('svc/beta')).toBe(200)
    const { provider, report } = healthOf('provider2')
    expect(provider.keys).toMatchObject([{ state: 'out' }])
    expect(provider.keys[0]?.forMs).toBeGreaterThan(0)
    expect(report.fallbacks).toMatchObject([{ from: 'svc/beta', to: 'svc/alpha', count: 1 }])
    expect(JSON.stringify(report)).not.toContain('secret-canary')
  })
})
