/** Errors of the presets' services: each gets its meaning, leads to the next service or stops, and our own faults are not the caller's. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion, usageOf } from '@test/support/upstream'
import type { JsonObject } from '@/lib/json'

const flat = (message: string, type: string) => ({ object: 'error', message, type, param: null, code: '1' })
const html = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>'
const open = (code: number, message: string) => ({ error: { code, message, metadata: { provider_name: 'X' } } })
const OLDER = { object: 'error', message: 'bad', type: 'BadRequestError', code: 400 }
const LOADING = { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }

/** `told`: the status for the caller where there is no other service. `goesOn`: whether the next service is asked. */
const CASES = (
  [
    ['mistral', 'a flat refusal', 400, 400, false, flat('bad role', 'invalid_request_error')],
    ['mistral', 'a flat limit', 429, 503, true, flat('Requests rate limit exceeded', 'rate_limited')],
    ['mistral', 'details', 422, 400, false, { detail: [{ loc: ['body'], msg: 'bad' }] }],
    ['mistral', 'a wrong key', 401, 502, true, { message: 'Unauthorized', request_id: 'r' }],
    ['xai', 'text beside a code', 400, 400, false, { code: 'invalid-argument', error: 'bad role' }],
    ['xai', 'an empty account', 403, 502, true, { code: 'permission-denied', error: 'no credits' }],
    ['openrouter', 'an error in a 200', 200, 503, true, open(503, 'No provider')],
    ['openrouter', 'a limit in a 200', 200, 503, true, open(429, 'Rate limited')],
    ['openrouter', 'a refusal in a 200', 200, 400, false, open(400, 'bad role')],
    ['openrouter', 'an empty account in a 200', 200, 502, true, open(402, 'Insufficient credits')],
    ['openrouter', 'an empty account', 402, 502, true, open(402, 'Insufficient credits')],
    ['vllm', 'an older flat refusal', 400, 400, false, OLDER],
    ['llama.cpp', 'a model that loads', 503, 503, true, LOADING],
    ['together', 'HTML', 502, 502, true, html],
    ['deepseek', 'HTML in a 403', 403, 502, true, html],
    ['groq', 'HTML in a 200', 200, 502, true, html],
    ['fireworks', 'words alone', 503, 503, true, 'upstream connect error'],
  ] as [preset: string, what: string, status: number, told: number, goesOn: boolean, body: JsonObject | string][]
).map(([preset, what, status, told, goesOn, body]) => ({ preset, what, status, told, goesOn, body }))
const NAMED = CASES.flatMap((row, index) =>
  [false, true].map(
    (stream) => [row.preset, row.what, stream ? 'a stream' : 'an answer', { ...row, index, stream }] as const,
  ),
)

let world: TestGateway

beforeAll(async () => {
  world = await startGateway({
    respond: ({ path }) => {
      const [, which = ''] = path.split('/')
      const row = CASES[Number(which)]
      if (!row) return Response.json(chatCompletion('Hi', usageOf(20, 7)))
      if (typeof row.body !== 'string') return Response.json(row.body, { status: row.status })
      return new Response(row.body, { status: row.status, headers: { 'content-type': 'text/html' } })
    },
    catalog: (file) => {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      file.providers.sound = { format: 'chat-completions', baseUrl: `${address}/sound`, keys: ['the-key'] }
      for (const [index, stream] of NAMED.map(([, , , row]) => [row.index, row.stream] as const)) {
        const name = `${index}-${stream}`
        file.providers[name] = { preset: CASES[index]?.preset, baseUrl: `${address}/${index}`, keys: ['the-key'] }
        const targets = [name, 'sound'].map((provider) => ({ provider, model: 'm' }))
        file.models.push({ ...model, id: `svc/${name}-both`, targets })
        file.models.push({ ...model, id: `svc/${name}-alone`, targets: targets.slice(0, 1) })
      }
    },
  })
})
afterAll(() => world.stop())

test.each(NAMED)(
  'E22: if the preset %s sends %s, nothing is charged; calls made: %s',
  async (_, __, ___, { index, stream, told, goesOn }) => {
    const { key, accountId } = await world.customer('1')
    const ask = (model: string) =>
      fetch(`${world.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hi' }] }),
      })
    const alone = await ask(`svc/${index}-${stream}-alone`)
    expect([alone.status, (await world.balance(accountId)).available]).toEqual([told, 1_000_000_000])
    expect(await alone.text()).not.toContain('the-key')
    const both = await ask(`svc/${index}-${stream}-both`)
    expect(both.status).toBe(goesOn ? 200 : told)
    await both.text()
  },
)
