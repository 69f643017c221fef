/** Preferences of a caller, respected, validated, and not sent to providers in any format; and conversations with a tier. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import {
  FORMATS,
  type FormatName,
  type ScriptedModels,
  soundAnswer,
  startScriptedModels,
  status,
} from './scripted-models'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const PAIRS = FORMATS.flatMap((client) => FORMATS.map((provider): [FormatName, FormatName] => [client, provider]))
const providerOf = (model: string) => model.replace('svc/', '')

describe('preferences are not sent to providers', () => {
  test.each(PAIRS)('preferences of a %s caller are not sent to %s', async (format, provider) => {
    let received = ''
    const model = world.modelWith(provider, ({ body }) => {
      received = JSON.stringify(body)
      return soundAnswer(provider, false)
    })
    const svc = { quality: 0.123, max_price: { prompt: 1, completion: 2 }, providers: { only: [providerOf(model)] } }
    const { response } = await world.ask({ format, model, body: { svc }, headers: { 'x-svc-quality': '0.5' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-left-out')).toBeNull()
    expect(received).toContain('Hi')
    for (const word of ['svc"', '0.123', 'max_price', 'maxPrice', 'providers']) expect(received).not.toContain(word)
  })

  test('preferences are not sent even to a provider that gets all fields, in any format', async () => {
    const open = await startScriptedModels({ quirks: ['unpriced-extras'], passFields: ['svc'] })
    for (const format of FORMATS) {
      let received: unknown
      const model = open.modelWith(format, ({ body }) => {
        received = body
        return soundAnswer(format, false)
      })
      const { response } = await open.ask({ format, model, body: { svc: { quality: 0 }, x_own: 1 } })
      expect([format, response.status]).toEqual([format, 200])
      expect(received).toHaveProperty('x_own')
      expect(received).not.toHaveProperty('svc')
    }
    await open.gateway.stop()
  })
})

describe.each([...FORMATS])('a caller of %s', (format) => {
  test('a provider that a preference excludes never answers, even if all others fail', async () => {
    const broken = world.modelWith(format, status(500))
    let calls = 0
    const sound = world.modelWith(format, () => {
      calls++
      return soundAnswer(format, false)
    })
    const ask = (svc: unknown) => world.ask({ format, model: broken, fallback: [sound], body: { svc } })
    expect((await ask({ providers: { ignore: [providerOf(sound)] } })).response.status).toBe(502)
    expect(calls).toBe(0)
    const { response } = await ask({ providers: { only: [providerOf(sound)] } })
    expect([response.status, response.headers.get('x-svc-provider')]).toEqual([200, providerOf(sound)])
    expect(response.headers.get('x-svc-attempts')).toBe('1')
  })

  test('a quality header that is not a number from 0 to 1 is a 400; an empty one is ignored', async () => {
    const model = world.modelWith(format, () => soundAnswer(format, false))
    const ask = (quality: string) => world.ask({ format, model, headers: { 'x-svc-quality': quality } })
    for (const quality of ['2', '-1', 'high', '1.5', 'NaN', '0x1', '.']) {
      const { response, text } = await ask(quality)
      expect([response.status, text.includes('x-svc-quality must be a number from 0 to 1')]).toEqual([400, true])
    }
    for (const quality of ['0', '1', '1.0', '.5', '0.25', '']) expect((await ask(quality)).response.status).toBe(200)
  })
})

const faults: [name: string, svc: unknown, param: string, words: string][] = [
  ['no object', 'best', 'svc', 'an object'],
  ['too much quality', { quality: 1.1 }, 'svc.quality', '1'],
  ['quality in words', { quality: 'high' }, 'svc.quality', 'a number'],
  ['an unheard-of wish', { qualty: 1 }, 'svc.qualty', 'quality, max'],
  ['a price below nothing', { max_price: { input: -1 } }, 'svc.max', '0'],
  ['a price of something else', { max_price: { image: 1 } }, 'svc.max', 'input, output, prompt, completion'],
  ['one price twice', { max_price: { input: 1, prompt: 1 } }, 'svc.max', 'mean the same'],
  ['a price too fine', { max_price: { prompt: 0.1234567 } }, 'svc.max', '0.000001'],
  ['an unheard-of list', { providers: { except: [] } }, 'svc.providers.except', 'order, only, ignore'],
  ['no list', { providers: { only: 'provider1' } }, 'svc.providers.only', 'an array'],
  ['an unheard-of provider', { providers: { only: ['nobody'] } }, 'svc.providers.only', 'nobody'],
  ['an unheard-of order', { sort: 'beauty' }, 'svc.sort', 'latency'],
  [
    'too low a price',
    { max_price: { input: 0.5 } },
    'svc.max_price',
    'costs 1 USD per 1M input tokens, above svc.max_price 0.5',
  ],
]
test.each(faults.map((fault, index) => [FORMATS[index % FORMATS.length] as FormatName, ...fault] as const))(
  'an invalid preference is a 400 in the format of a %s caller: %s',
  async (format, _, svc, param, words) => {
    const model = world.modelWith(format, () => expect.unreachable())
    const { response, text } = await world.ask({ format, model, body: { svc } })
    expect(response.status).toBe(400)
    const { error } = JSON.parse(text)
    expect(error.message).toContain(words)
    const details = error.details?.param ?? error.details?.[0]?.fieldViolations?.[0]?.field ?? error.param ?? ''
    expect(`${details} ${error.message}`).toContain(param)
  },
)

test('generate-content callers may use either spelling, but not both', async () => {
  const format = 'generate-content'
  const model = world.modelWith(format, () => soundAnswer(format, false))
  const ask = (svc: unknown) => world.ask({ format, model, body: { svc } })
  expect((await ask({ maxPrice: { input: 1 } })).response.status).toBe(200)
  expect((await ask({ maxPrice: { input: 0.1 } })).response.status).toBe(400)
  expect((await ask({ maxPrice: { input: 1 }, max_price: { input: 1 } })).text).toContain('given twice')
})

test('OpenRouter’s own field is read, and an unknown name in it is refused', async () => {
  const format = 'chat-completions'
  const model = world.modelWith(format, () => soundAnswer(format, false))
  const { response, text } = await world.ask({ format, model, body: { provider: { only: ['x'] } } })
  expect([response.status, JSON.parse(text).error.param]).toEqual([400, 'provider.only'])
})

test('a tier keeps the model of an unnamed conversation, but not for another conversation of the user', async () => {
  world.script(() => soundAnswer('chat-completions', false))
  const reasonOf = async (...said: string[]) => {
    const turns = said.flatMap((content) => [
      { role: 'user', content },
      { role: 'assistant', content: 'Very well.' },
    ])
    const body = { messages: turns.slice(0, -1), user: 'application' }
    const { response } = await world.ask({ format: 'chat-completions', model: 'auto-smart', body })
    return response.headers.get('x-svc-route-reason')
  }
  expect(await reasonOf('Good morning')).toStartWith('chosen; smart')
  expect(await reasonOf('Good morning', 'How are you?')).toStartWith('session; auto-smart')
  expect(await reasonOf('Good morning', 'How are you?', 'Thanks')).toStartWith('session; auto-smart')
  expect(await reasonOf('Good evening', 'How are you?')).toStartWith('chosen; smart')
  expect(await reasonOf('Good morning')).toStartWith('chosen; smart')
})

test('a tier states why it chose the model, and keeps the model of a named conversation', async () => {
  world.script(() => soundAnswer('chat-completions', false))
  const question = { format: 'chat-completions' as const, model: 'auto-smart', headers: { 'x-svc-session': 'one' } }
  const first = await world.ask(question)
  expect(first.response.headers.get('x-svc-route-reason')).toStartWith('chosen; smart, easy chat')
  const second = await world.ask(question)
  expect(second.response.headers.get('x-svc-route-reason')).toStartWith('session; auto-smart')
  for (const { headers } of [first.response, second.response]) {
    const { sql } = world.gateway.gateway.database
    const [record] = await until(async () => {
      const rows = await sql`SELECT route_reason FROM usage_records WHERE request_id = ${headers.get('x-request-id')}`
      return rows.length > 0 && rows
    }, 'the usage record')
    expect(record?.route_reason).toBe(headers.get('x-svc-route-reason'))
  }
})
