/** Telemetry of refused requests: account and reason in our own words, and no content. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { startTracedGateway, type TracedGateway } from './traced-gateway'

const BODY = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }

let world: TracedGateway
beforeAll(async () => {
  world = await startTracedGateway({ respond: () => Response.json(chatCompletion('Hi')) })
})
afterAll(() => world.stop())
beforeEach(() => world.forget())

async function ask(body: object = {}, headers: object = {}) {
  const response = await world.post('/v1/chat/completions', { ...BODY, ...body }, { ...headers })
  await response.text()
  return { response, trace: await world.spansOf() }
}

describe('a refused request', () => {
  const nobody = { authorization: 'Bearer svc-nobody' }
  test.each([
    [400, 'invalid_request', { messages: 'canary' }, {}],
    [401, 'invalid_credentials', {}, nobody],
    [404, 'model_not_found', { model: 'svc/canary-unknown' }, {}],
  ])('a refusal %p is exported without content of the request', async (status, kind, body, headers) => {
    const { response, trace } = await ask(body, headers)
    expect(response.status).toBe(status)
    expect(trace.server).toMatchObject({
      status: { code: 0 },
      attributes: { 'http.response.status_code': status, 'svc.error.kind': kind, 'svc.ending': 'refused' },
    })
    expect(trace.calls).toEqual([])
    expect(JSON.stringify(trace.all.map(({ attributes }) => attributes))).not.toMatch(/canary|nobody/)
  })

  test('a refusal for credit or limits has the ledger’s reason', async () => {
    const poor = await world.gateway.customer('0')
    const { response, trace } = await ask({}, { authorization: `Bearer ${poor.key}` })
    expect(response.status).toBe(402)
    expect(trace.step('reserve')?.attributes['svc.reserve.outcome']).toBe('insufficient')
    expect(trace.server.attributes['svc.error.kind']).toBe('insufficient_credit')
    const slow = await world.gateway.customer('1', { requestsPerMinute: 1 })
    const headers = { authorization: `Bearer ${slow.key}` }
    await (await world.post('/v1/chat/completions', BODY, headers)).text()
    await until(() => world.receiver.spans.length > 5, 'the spans of the first')
    world.forget()
    const limited = await ask({}, headers)
    expect(limited.trace.server.attributes).toMatchObject({
      ...{ 'http.response.status_code': 429, 'svc.error.kind': 'rate_limited' },
      'svc.account.id': slow.accountId,
    })
    expect(limited.trace.step('reserve')?.attributes['svc.reserve.outcome']).toBe('rate_limited')
  })

  test('the span of an unknown path does not contain the path; probes and pages are not exported', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/docs/guide']) await fetch(world.gateway.url + path)
    const response = await fetch(`${world.gateway.url}/v1/${world.customer.key}`)
    expect(response.status).toBe(404)
    const { server } = await world.spansOf()
    expect(server).toMatchObject({ name: 'GET', attributes: { 'http.response.status_code': 404 } })
    expect(server.attributes['url.path']).toBeUndefined()
    expect(world.receiver.spans).toHaveLength(1)
  })
})
