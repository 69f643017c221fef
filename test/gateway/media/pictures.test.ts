/** Pictures: requests to providers, answers in either format, and costs. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  answerPictures,
  EDIT_COST,
  geminiPictures,
  PICTURE,
  pictureEvent,
  picturesAnswer,
  sellPictures,
  USAGE,
  USAGE_COST,
} from '@test/gateway/picture-providers'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { liveStream } from '@test/support/upstream'
import { nano } from '@/lib/money'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: answerPictures, catalog: sellPictures })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  customer = await gateway.customer('5')
  gateway.upstream.calls.length = 0
})
afterEach(() => gateway.upstream.respond(answerPictures))

type Asked = { model?: string; prompt?: unknown; [field: string]: unknown }

function generate(body: Asked, init: RequestInit = {}, { key }: { key: string } = customer): Promise<Response> {
  return fetch(`${gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/picture', prompt: 'A red fox', ...body }),
    ...init,
  })
}

type Part = string | File

function edit(parts: readonly (readonly [string, Part])[]): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, value.name)
  }
  const headers = { authorization: `Bearer ${customer.key}` }
  return fetch(`${gateway.url}/v1/images/edits`, { method: 'POST', headers, body: form })
}

function picture(name: string, content = name, type = 'image/png'): File {
  return new File([content], name, { type })
}

async function spent(): Promise<number> {
  const { spent: cost, held } = await gateway.balance(customer.accountId)
  expect(held).toBe(nano(0))
  return cost
}

/** The only call that the provider got. */
function onlyCall() {
  expect(gateway.upstream.calls).toHaveLength(1)
  const [call] = gateway.upstream.calls
  if (!call) throw new Error('there is one call')
  return call
}

describe('pictures by tokens', () => {
  test('pictures cost the provider’s tokens of text and pictures, each at its own price', async () => {
    const answer = await generate({ n: 2, size: '1024x1536', quality: 'low', output_format: 'webp' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-svc-model')).toBe('svc/picture')
    expect(answer.headers.get('x-svc-cost-usd')).toBe('0.03007')
    expect(await answer.json()).toEqual({
      created: 1_760_000_000,
      data: [{ b64_json: PICTURE }, { b64_json: PICTURE }],
      usage: USAGE,
    })
    expect(onlyCall().path).toBe('/v1/images/generations')
    expect(onlyCall().body).toEqual({
      ...{ model: 'gpt-image-2', prompt: 'A red fox', n: 2 },
      ...{ size: '1024x1536', quality: 'low', output_format: 'webp' },
    })
    expect(await spent()).toBe(USAGE_COST)
  })

  test('if a provider states no tokens, a picture costs an estimate, not the whole hold', async () => {
    gateway.upstream.respond(() => picturesAnswer(1, { quality: 'low', size: '1024x1024' }))
    expect((await generate({})).status).toBe(200)
    expect(await spent()).toBe(272 * 30_000)
  })

  test('pictures never cost more than their hold', async () => {
    const usage = { ...USAGE, output_tokens: 500_000, output_tokens_details: { image_tokens: 500_000, text_tokens: 0 } }
    gateway.upstream.respond(() => picturesAnswer(1, { usage }))
    expect((await generate({})).status).toBe(200)
    expect(await spent()).toBe(14 * 5_000 + 7_000 * 30_000)
  })
})

describe('pictures priced per picture', () => {
  const prices: [string, object, object, number][] = [
    ['nothing said', {}, {}, 0.04],
    ['a quality with a price', { quality: 'low' }, {}, 0.02],
    ['a size with a price', { size: '1024x1536' }, {}, 0.08],
    ['both together with a price', { size: '1024x1536', quality: 'high' }, {}, 0.12],
    ['what the provider states', { size: 'auto', quality: 'auto' }, { size: '1024x1536', quality: 'medium' }, 0.08],
    ['a size without a price', { size: '2048x2048' }, {}, 0.04],
  ]

  test.each(prices)('a picture with %s costs its price line', async (_, asked, stated, usd) => {
    gateway.upstream.respond(() => picturesAnswer(1, stated))
    const answer = await generate({ model: 'svc/picture-each', ...asked })
    expect(answer.status).toBe(200)
    expect(await spent()).toBe(Math.round(usd * 1e9))
  })

  test('fewer pictures than requested cost the delivered number', async () => {
    gateway.upstream.respond(() => picturesAnswer(2, {}))
    const answer = await generate({ model: 'svc/picture-each', n: 4 })
    expect(((await answer.json()) as { data: unknown[] }).data).toHaveLength(2)
    expect(await spent()).toBe(80_000_000)
  })

  test('more pictures than requested cost only the requested number', async () => {
    gateway.upstream.respond(() => picturesAnswer(3, {}))
    await generate({ model: 'svc/picture-each', n: 1, quality: 'low' })
    expect(await spent()).toBe(20_000_000)
  })

  test('a hold for a picture covers the dearest variant that the request allows', async () => {
    const { key } = await gateway.customer('0.11')
    const dear = await generate({ model: 'svc/picture-each' }, {}, { key })
    expect(dear.status).toBe(402)
    expect(await dear.json()).toMatchObject({ error: { code: 'insufficient_quota', neededUsd: 0.12 } })
    expect(gateway.upstream.calls).toHaveLength(0)
    expect((await generate({ model: 'svc/picture-each', quality: 'low' }, {}, { key })).status).toBe(200)
  })
})

describe('pictures that fail', () => {
  const failures: [string, () => Response][] = [
    ['an error', () => Response.json({ error: { message: 'no', type: 'server_error' } }, { status: 500 })],
    ['an empty list', () => picturesAnswer(0, {})],
    ['a text instead', () => new Response('<html>')],
    ['a refusal', () => Response.json({ error: { message: 'no', code: 'moderation_blocked' } }, { status: 400 })],
  ]

  test.each(failures)('a picture request is free if the provider sends %s', async (_, respond) => {
    gateway.upstream.respond(respond)
    const answer = await generate({})
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) } })
    expect(await spent()).toBe(0)
  })

  test('if the first target fails, the second target makes the picture', async () => {
    gateway.upstream.respond(({ headers }) =>
      headers.get('authorization')?.includes('spare') ? picturesAnswer(1) : new Response('', { status: 503 }),
    )
    const answer = await generate({ model: 'svc/picture-two' })
    expect([answer.status, answer.headers.get('x-svc-provider')]).toEqual([200, 'spare'])
    expect(await spent()).toBe(USAGE_COST)
  })
})

describe('a request for pictures', () => {
  const faults: [string, Asked][] = [
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: 'x'.repeat(32_001) }],
    ['n', { n: 11 }],
    ['n', { n: 0 }],
    ['size', { size: 'large' }],
    ['partial_images', { stream: true, partial_images: 4 }],
    ['partial_images', { partial_images: 2 }],
    ['output_compression', { output_compression: 101 }],
    ['response_format', { response_format: 'png' }],
    ['fallback', { fallback: ['svc/alpha'] }],
    ['model', { model: 'svc/alpha' }],
    ['model', { model: 'svc/nobody' }],
  ]

  test.each(faults)('a picture request with a bad %s is refused (%#)', async (param, body) => {
    const answer = await generate(body)
    expect([400, 404]).toContain(answer.status)
    expect(await answer.json()).toMatchObject({ error: { param } })
    expect(gateway.upstream.calls).toHaveLength(0)
  })

  test('a chat request to a model of pictures is refused', async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc/picture', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param: 'model', code: 'wrong_endpoint' } })
  })

  test('unknown fields of a picture request are omitted and named in a header', async () => {
    const answer = await generate({ seed: 7, user: 'ada' })
    expect(answer.headers.get('x-svc-left-out')).toBe('seed')
    expect(onlyCall().body).toEqual({ model: 'gpt-image-2', prompt: 'A red fox', user: 'ada' })
  })

  const packings: [string, string | undefined, string, string | undefined][] = [
    ['svc/picture', 'b64_json', PICTURE, undefined],
    ['svc/picture', 'url', `data:image/png;base64,${PICTURE}`, undefined],
    ['svc/picture-each', 'b64_json', PICTURE, 'b64_json'],
    ['svc/picture-each', 'url', `data:image/png;base64,${PICTURE}`, 'url'],
    ['svc/picture-gemini', 'url', `data:image/png;base64,${PICTURE}`, undefined],
  ]

  test.each(packings)('%s with response_format %s gets a URL or base64', async (model, packing, told, sent) => {
    const answer = await generate({ model, response_format: packing })
    const { data } = (await answer.json()) as { data: Record<string, string>[] }
    expect(data).toEqual([{ [packing === 'url' ? 'url' : 'b64_json']: told }])
    expect(onlyCall().body.response_format).toBe(sent)
  })

  test('a picture request with an idempotency key is charged once', async () => {
    const headers = {
      authorization: `Bearer ${customer.key}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    }
    const first = await generate({}, { headers })
    const second = await generate({}, { headers })
    expect(await second.json()).toEqual(await first.json())
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await spent()).toBe(USAGE_COST)
  })
})

describe('edits of pictures', () => {
  test('the provider gets the files and fields of an edit as a form', async () => {
    const answer = await edit([
      ['model', 'svc/picture'],
      ['prompt', 'Make it blue'],
      ['image[]', picture('one.png')],
      ['image[]', picture('two.webp', 'two', 'image/webp')],
      ['mask', picture('mask.png')],
      ['n', '1'],
      ['input_fidelity', 'high'],
    ])
    expect([answer.status, answer.headers.get('x-svc-cost-usd')]).toEqual([200, '0.03247'])
    const { form } = onlyCall()
    expect(onlyCall().path).toBe('/v1/images/edits')
    expect(['model', 'prompt', 'n', 'input_fidelity'].map((name) => form?.get(name))).toEqual([
      ...['gpt-image-2', 'Make it blue', '1', 'high'],
    ])
    const files = [...(form?.getAll('image[]') ?? []), form?.get('mask')] as unknown as File[]
    expect(await Promise.all(files.map(async (file) => [file.name, file.type, await file.text()]))).toEqual([
      ['one.png', 'image/png', 'one.png'],
      ['two.webp', 'image/webp', 'two'],
      ['mask.png', 'image/png', 'mask.png'],
    ])
    expect(await spent()).toBe(EDIT_COST)
  })

  const fox: [string, Part][] = [
    ['model', 'svc/picture'],
    ['prompt', 'Make it blue'],
  ]
  const faults: [string, [string, Part][]][] = [
    ['image', fox],
    ['image', [...fox, ['image', picture('one.txt', 'one', 'text/plain')]]],
    ['image', [...fox, ...Array.from({ length: 11 }, (_, n): [string, Part] => ['image[]', picture(`${n}.png`)])]],
    ['n', [...fox, ['image', picture('one.png')], ['n', 'two']]],
    [
      'prompt',
      [
        ['model', 'svc/picture'],
        ['image', picture('one.png')],
      ],
    ],
  ]

  test.each(faults)('an edit with a bad %s is refused (%#)', async (param, parts) => {
    const answer = await edit(parts)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param } })
    expect(gateway.upstream.calls).toHaveLength(0)
  })

  test('Gemini gets the picture to edit in the conversation', async () => {
    const parts: [string, Part][] = [
      ['model', 'svc/picture-gemini'],
      ['prompt', 'Make it blue'],
    ]
    const answer = await edit([...parts, ['image', picture('one.png')]])
    expect(answer.status).toBe(200)
    const data = Buffer.from('one.png').toString('base64')
    expect(onlyCall().body.contents).toEqual([
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data } }, { text: 'Make it blue' }] },
    ])
  })
})

describe('pictures of Gemini', () => {
  test('a picture is requested from Gemini as a conversation, in the nearest shape', async () => {
    const answer = await generate({ model: 'svc/picture-gemini', size: '1024x1536', quality: 'high' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-svc-left-out')).toBe('quality')
    expect(await answer.json()).toEqual({
      created: expect.any(Number),
      data: [{ b64_json: PICTURE }],
      usage: {
        ...{ input_tokens: 5, input_tokens_details: { text_tokens: 5, image_tokens: 0 } },
        ...{
          output_tokens: 1_290,
          output_tokens_details: { text_tokens: 0, image_tokens: 1_290 },
          total_tokens: 1_295,
        },
      },
    })
    const { path, body } = onlyCall()
    expect(path).toBe('/v1beta/models/gemini-image:generateContent')
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A red fox' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '2:3' } },
    })
    expect(await spent()).toBe(5 * 5_000 + 1_290 * 30_000)
  })

  test.each([
    ['n', { n: 2 }],
    ['size', { size: '1024x4096' }],
  ])('a %s that Gemini does not support is refused', async (param, asked) => {
    const answer = await generate({ model: 'svc/picture-gemini', ...asked })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param } })
    expect(await spent()).toBe(0)
  })

  test('a picture that Gemini’s filter withholds is free, and the error says why', async () => {
    gateway.upstream.respond(() => geminiPictures(0))
    const answer = await generate({ model: 'svc/picture-gemini' })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: 'moderation_blocked', param: 'prompt' } })
    expect(await spent()).toBe(0)
  })
})

/** The events of a stream, parsed. */
async function eventsOf(answer: Response): Promise<Record<string, unknown>[]> {
  const blocks = (await answer.text()).split('\n\n').filter(Boolean)
  return blocks.map((block) => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null'))
}

const STREAM = { stream: true, partial_images: 2, size: '1024x1024' }

describe('streams of pictures', () => {
  test('partial pictures are relayed, and the finished picture is charged', async () => {
    const text =
      pictureEvent('image_generation.partial_image', { partial_image_index: 0 }) +
      pictureEvent('image_generation.completed', { usage: USAGE })
    gateway.upstream.respond(() => new Response(text, { headers: { 'content-type': 'text/event-stream' } }))
    const answer = await generate(STREAM)
    expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
    expect(await answer.text()).toBe(text)
    expect(onlyCall().body).toMatchObject({ stream: true, partial_images: 2 })
    expect(await spent()).toBe(USAGE_COST)
  })

  test('a provider without picture streams gives a stream of one event', async () => {
    const answer = await generate({ model: 'svc/picture', stream: true })
    expect(await eventsOf(answer)).toMatchObject([
      { type: 'image_generation.completed', b64_json: PICTURE, created_at: 1_760_000_000, usage: USAGE },
    ])
    expect(await spent()).toBe(USAGE_COST)
  })

  test('a stream that breaks before a picture is finished is free', async () => {
    gateway.upstream.respond(() => {
      const live = liveStream()
      live.write(pictureEvent('image_generation.partial_image', { partial_image_index: 0 }))
      live.close()
      return live.response
    })
    const events = await eventsOf(await generate(STREAM))
    expect(events.at(-1)).toMatchObject({ error: { message: expect.any(String) } })
    expect(await spent()).toBe(0)
  })

  test('an error in a stream before a picture is finished is free', async () => {
    const error = { type: 'error', error: { message: 'blocked', code: 'moderation_blocked' } }
    const text = `${pictureEvent('image_generation.partial_image')}event: error\ndata: ${JSON.stringify(error)}\n\n`
    gateway.upstream.respond(() => new Response(text, { headers: { 'content-type': 'text/event-stream' } }))
    await (await generate(STREAM)).text()
    expect(await spent()).toBe(0)
  })

  test('a client that disconnects after a partial picture pays for that picture', async () => {
    const live = liveStream()
    gateway.upstream.respond(() => live.response)
    const controller = new AbortController()
    live.write(pictureEvent('image_generation.partial_image', { partial_image_index: 0 }))
    const answer = await generate({ ...STREAM, model: 'svc/picture-each' }, { signal: controller.signal })
    const reader = answer.body?.getReader()
    await reader?.read()
    controller.abort()
    await until(async () => (await gateway.balance(customer.accountId)).held === 0)
    expect(await spent()).toBe(20_000_000)
  })
})
