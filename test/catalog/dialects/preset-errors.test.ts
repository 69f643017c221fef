/** Errors of the presets' services: each gets its meaning, leads to the next service or stops, and our own faults are not the caller's. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion, usageOf } from '@test/support/upstream'
import type { JsonObject } from '@/lib/json'

type Case = { preset: string; what: string; body: JsonObject | string; status: number; told: number; goesOn: boolean }

const flat = (message: string, type: string) => ({ object: 'error', message, type, param: null, code: '1' })
const html = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>'
const open = (code: number, message: string) => ({ error: { code, message, metadata: { provider_name: 'X' } } })

/** `told`: the status for the caller where there is no other service. */
const CASES: Case[] = [
  {
    preset: 'mistral',
    what: 'a flat refusal',
    body: flat('bad role', 'invalid_request_error'),
    status: 400,
    told: 400,
    goesOn: false,
  },
  {
    preset: 'mistral',
    what: 'a flat limit',
    body: flat('Requests rate limit exceeded', 'rate_limited'),
    status: 429,
    told: 503,
    goesOn: true,
  },
  {
    preset: 'mistral',
    what: 'details',
    body: { detail: [{ loc: ['body'], msg: 'bad' }] },
    status: 422,
    told: 400,
    goesOn: false,
  },
  {
    preset: 'mistral',
    what: 'a wrong key',
    body: { message: 'Unauthorized', request_id: 'r' },
    status: 401,
    told: 502,
    goesOn: true,
  },
  {
    preset: 'xai',
    what: 'text beside a code',
    body: { code: 'invalid-argument', error: 'bad role' },
    status: 400,
    told: 400,
    goesOn: false,
  },
  {
    preset: 'xai',
    what: 'an empty account',
    body: { code: 'permission-denied', error: 'no credits' },
    status: 403,
    told: 502,
    goesOn: true,
  },
  {
    preset: 'openrouter',
    what: 'an error in a 200',
    body: open(503, 'No provider'),
    status: 200,
    told: 503,
    goesOn: true,
  },
  {
    preset: 'openrouter',
    what: 'a limit in a 200',
    body: open(429, 'Rate limited'),
    status: 200,
    told: 503,
    goesOn: true,
  },
  {
    preset: 'openrouter',
    what: 'a refusal in a 200',
    body: open(400, 'bad role'),
    status: 200,
    told: 400,
    goesOn: false,
  },
  {
    preset: 'openrouter',
    what: 'an empty account in a 200',
    body: open(402, 'Insufficient credits'),
    status: 200,
    told: 502,
    goesOn: true,
  },
  {
    preset: 'openrouter',
    what: 'an empty account',
    body: open(402, 'Insufficient credits'),
    status: 402,
    told: 502,
    goesOn: true,
  },
  {
    preset: 'vllm',
    what: 'an older flat refusal',
    body: { object: 'error', message: 'bad', type: 'BadRequestError', code: 400 },
    status: 400,
    told: 400,
    goesOn: false,
  },
  {
    preset: 'llama.cpp',
    what: 'a model that loads',
    body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
    status: 503,
    told: 503,
    goesOn: true,
  },
  { preset: 'together', what: 'HTML', body: html, status: 502, told: 502, goesOn: true },
  { preset: 'deepseek', what: 'HTML in a 403', body: html, status: 403, told: 502, goesOn: true },
  { preset: 'groq', what: 'HTML in a 200', body: html, status: 200, told: 502, goesOn: true },
  { preset: 'fireworks', what: 'words alone', body: 'upstream connect error', status: 503, told: 503, goesOn: true },
]
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
