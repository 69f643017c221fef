/** Transcriptions and translations: reserved by the file's length, charged by the provider's seconds or tokens. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { spentAtRest } from '@test/money-bugs/support'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import {
  answerSound,
  NANO_PER_SECOND,
  NANO_PER_SOUND_TOKEN,
  NANO_PER_TEXT_TOKEN,
  sellAudio,
  transcriptEvents,
  wavOf,
} from './sounds'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: answerSound, catalog: sellAudio })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  customer = await gateway.customer('1')
  gateway.upstream.calls.length = 0
})
afterEach(() => gateway.upstream.respond(answerSound))

type Fields = Record<string, string | string[] | Blob | null>
type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

function formOf(fields: Fields): FormData {
  const form = new FormData()
  const whole: Fields = {
    model: 'svc/stt',
    file: new File([wavOf(2.4)], 'hello.wav', { type: 'audio/wav' }),
    ...fields,
  }
  for (const [name, value] of Object.entries(whole)) {
    if (value === null) continue
    if (Array.isArray(value)) for (const item of value) form.append(`${name}[]`, item)
    else form.append(name, value)
  }
  return form
}

function hear(
  fields: Fields = {},
  { key }: { key: string } = customer,
  { headers, ...init }: Init = {},
  task = 'transcriptions',
): Promise<Response> {
  return fetch(`${gateway.url}/v1/audio/${task}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: formOf(fields),
    ...init,
  })
}

const spent = ({ accountId } = customer) => spentAtRest(gateway, accountId)

const file = (bytes: BlobPart, name = 'sound.wav') => new File([bytes], name)

describe('a transcription', () => {
  test('a transcription is the provider’s answer, and costs the seconds that it states', async () => {
    const answer = await hear()
    expect([answer.status, answer.headers.get('x-svc-cost-usd')]).toEqual([200, '0.0003'])
    expect(await answer.json()).toEqual({ text: 'Hello', usage: { type: 'duration', seconds: 3 } })
    expect(await spent()).toBe(3 * NANO_PER_SECOND)
  })

  test('the provider gets its own model name, the unchanged file, and all listed fields', async () => {
    const fields = { language: 'en', prompt: 'Names: Ada', temperature: '0.2', response_format: 'verbose_json' }
    const lists = { timestamp_granularities: ['word', 'segment'], include: ['logprobs'] }
    const answer = await hear({ ...fields, ...lists, 'svc[regions]': null, unknown: 'x' })
    expect(answer.headers.get('x-svc-left-out')).toBe('unknown')
    const [call] = gateway.upstream.calls
    expect(call?.path).toBe('/v1/audio/transcriptions')
    const sent = call?.form ?? new FormData()
    const sound = sent.get('file') as File
    expect(sound.name).toBe('hello.wav')
    expect(Buffer.from(await sound.arrayBuffer())).toEqual(wavOf(2.4))
    sent.delete('file')
    expect([...sent]).toEqual([
      ['model', 'provider1-stt'],
      ['response_format', 'verbose_json'],
      ['language', 'en'],
      ['prompt', 'Names: Ada'],
      ['temperature', '0.2'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['include[]', 'logprobs'],
    ])
  })

  test.each([
    // What the provider says, and the seconds that this costs for a file of 2.4 s.
    ['usage', 'json', { text: 'Hi', usage: { type: 'duration', seconds: 3 } }, 3],
    ['a duration', 'verbose_json', { text: 'Hi', duration: 2.41 }, 3],
    ['a duration as text', 'verbose_json', { text: 'Hi', duration: '1.5' }, 2],
    ['usage beside a duration', 'verbose_json', { text: 'Hi', duration: 1, usage: { seconds: 2 } }, 2],
    ['nothing', 'json', { text: 'Hi' }, 3],
    ['seconds below zero', 'json', { text: 'Hi', usage: { seconds: -5 } }, 3],
    ['seconds that are no number', 'json', { text: 'Hi', usage: { seconds: 'NaN' } }, 3],
    ['more seconds than the file has', 'json', { text: 'Hi', usage: { seconds: 900 } }, 3],
  ])('a transcription costs the seconds that the provider states: %s', async (_, response_format, said, seconds) => {
    gateway.upstream.respond(() => Response.json(said))
    expect(await (await hear({ response_format })).json()).toEqual(said)
    expect(await spent()).toBe(seconds * NANO_PER_SECOND)
  })

  test('a text transcription is made from JSON, because providers state no usage with text', async () => {
    const answer = await hear({ response_format: 'text' })
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['text/plain; charset=utf-8', 'Hello\n'])
    expect(gateway.upstream.calls[0]?.form?.get('response_format')).toBe('json')
    expect(await spent()).toBe(3 * NANO_PER_SECOND)
  })

  test('subtitles are passed on, and cost the file’s length', async () => {
    const answer = await hear({ response_format: 'srt' })
    expect(await answer.text()).toBe('1\n00:00:00,000 --> 00:00:02,400\nHello\n')
    expect(await spent()).toBe(3 * NANO_PER_SECOND)
  })

  test('subtitles of a file of unknown length cost the end time of the last subtitle', async () => {
    const unknown = file(Buffer.from('no known format '.repeat(100)))
    await (await hear({ response_format: 'srt', file: unknown })).text()
    expect(await spent()).toBe(3 * NANO_PER_SECOND)
  })

  test('a file of unknown length is reserved by its bytes at the lowest rate, and charged by the provider’s seconds', async () => {
    // 1,600 bytes may be 4 s.
    const unknown = file(Buffer.from('no known format '.repeat(100)))
    const poor = await gateway.customer('0.0003')
    expect((await hear({ file: unknown }, poor)).status).toBe(402)
    expect(gateway.upstream.calls).toHaveLength(0)
    const paying = await gateway.customer('0.0004')
    expect((await hear({ file: unknown }, paying)).status).toBe(200)
    expect(await spent(paying)).toBe(3 * NANO_PER_SECOND)
  })

  test('a translation is sent to the provider’s path for translations', async () => {
    const answer = await hear({}, customer, {}, 'translations')
    expect(answer.status).toBe(200)
    expect(gateway.upstream.calls[0]?.path).toBe('/v1/audio/translations')
    expect(await spent()).toBe(3 * NANO_PER_SECOND)
  })
})

describe('a transcription priced by tokens', () => {
  const model = 'svc/stt-tokens'
  const usage = {
    ...{ type: 'tokens', input_tokens: 30, output_tokens: 7, total_tokens: 37 },
    input_token_details: { text_tokens: 5, audio_tokens: 25 },
  }
  const cost = 12 * NANO_PER_TEXT_TOKEN + 25 * NANO_PER_SOUND_TOKEN

  test.each(['json', 'text'])('a transcription costs its tokens, audio at its price (%s)', async (response_format) => {
    gateway.upstream.respond(() => Response.json({ text: 'Hi', usage }))
    await (await hear({ model, response_format })).text()
    expect(await spent()).toBe(cost)
  })

  test('a streamed transcription costs the tokens of its last event', async () => {
    gateway.upstream.respond(() => transcriptEvents(usage))
    const answer = await hear({ model, stream: 'true' })
    expect(await answer.text()).toBe(await transcriptEvents(usage).text())
    expect(await spent()).toBe(cost)
  })

  test('a transcription without usage costs ten tokens a second, marked as estimated', async () => {
    gateway.upstream.respond(() => Response.json({ text: 'Hi' }))
    const answer = await hear({ model })
    // One token stands for an empty text.
    expect(await spent()).toBe(NANO_PER_TEXT_TOKEN + 30 * NANO_PER_SOUND_TOKEN)
    const line = gateway.logLines.find((one) => one.includes(answer.headers.get('x-request-id') ?? '?'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({ rule: 'counted', flags: ['estimated'] })
  })
})

describe('a transcription in events', () => {
  test('a transcription in events is relayed at once, and costs the seconds of its last event', async () => {
    const answer = await hear({ stream: 'true' })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    expect(await answer.text()).toBe(await transcriptEvents().text())
    expect(await spent()).toBe(3 * NANO_PER_SECOND)
  })

  test('a transcription that breaks before its last event ends in an error event', async () => {
    const headers = { 'content-type': 'text/event-stream' }
    const started = 'data: {"type":"transcript.text.delta","delta":"Hel"}\n\n'
    gateway.upstream.respond(() => new Response(started, { headers }))
    expect(await (await hear({ stream: 'true' })).text()).toMatch(/^data: .*\n\nevent: error\ndata: .*\n\n$/s)
    expect(await spent()).toBe(3 * NANO_PER_SECOND)
  })

  test('a transcription is one whole answer if the model cannot stream', async () => {
    gateway.upstream.respond(() => Response.json({ text: 'Hello' }))
    expect(await (await hear({ stream: 'true' })).json()).toEqual({ text: 'Hello' })
  })
})

describe('a refused transcription', () => {
  const CASES: [string, Fields, number, string | null][] = [
    ['no file', { file: null }, 400, 'file'],
    ['an empty file', { file: file('') }, 400, 'file'],
    ['a text as file', { file: 'sound' }, 400, 'file'],
    ['another field as file', { prompt: file('x') }, 400, 'prompt'],
    ['no model', { model: null }, 400, 'model'],
    ['another answer format', { response_format: 'midi' }, 400, 'response_format'],
    ['a temperature of 7', { temperature: '7' }, 400, 'temperature'],
    ['an unknown granularity', { timestamp_granularities: ['word', 'letter'] }, 400, 'timestamp_granularities[1]'],
    ['a fallback', { fallback: 'svc/stt-two' }, 400, 'fallback'],
    ['a model that speaks', { model: 'svc/tts' }, 400, 'model'],
    ['a rule that no provider obeys', { 'svc[zero_retention]': 'true' }, 404, 'svc.zero_retention'],
    ['an unknown preference', { svc: '{"regoins":["eu"]}' }, 400, 'svc.regoins'],
  ]

  test.each(CASES)('%s: a transcription is refused before a call', async (_, fields, status, param) => {
    const answer = await hear(fields)
    expect(answer.status).toBe(status)
    expect(((await answer.json()) as { error: { param: string | null } }).error.param).toBe(param)
    expect(gateway.upstream.calls).toHaveLength(0)
    expect(await spent()).toBe(0)
  })

  test('a transcription request as JSON, or as a form without boundary, is a 415', async () => {
    const post = (contentType: string) =>
      fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.key}`, 'content-type': contentType },
        body: '{}',
      })
    expect((await post('application/json')).status).toBe(415)
    expect((await post('multipart/form-data')).status).toBe(415)
  })

  test('a file above 25 MiB is refused', async () => {
    const large = Buffer.alloc(25 * 1024 * 1024 + 1)
    expect((await hear({ file: file(large) })).status).toBe(400)
    const larger = Buffer.alloc(27 * 1024 * 1024)
    expect((await hear({ file: file(larger) })).status).toBe(413)
    expect(gateway.upstream.calls).toHaveLength(0)
  })

  test('a file of 20 MiB is transcribed', async () => {
    const rich = await gateway.customer('10')
    const answer = await hear({ file: file(wavOf(2_600)) }, rich)
    expect(answer.status).toBe(200)
    expect(gateway.upstream.calls).toHaveLength(1)
  })

  test('with credit for one second too few, a transcription is a 402 before any call', async () => {
    const poor = await gateway.customer('0.0002')
    expect((await hear({}, poor)).status).toBe(402)
    expect(gateway.upstream.calls).toHaveLength(0)
    expect((await hear({}, await gateway.customer('0.0003'))).status).toBe(200)
  })
})

describe('a failed transcription', () => {
  test.each([
    ['an error', () => Response.json({ error: { message: 'down' } }, { status: 500 })],
    ['no JSON', () => new Response('<html>')],
    ['no text', () => Response.json({ error: { message: 'overloaded' } })],
  ])('%s: another target gets the file, and only that call is charged', async (_, failing) => {
    gateway.upstream.respond((call) => (call.form?.get('model') === 'provider1-stt' ? failing() : answerSound(call)))
    const answer = await hear({ model: 'svc/stt-two' })
    expect([answer.status, answer.headers.get('x-svc-provider')]).toEqual([200, 'spare'])
    const sound = gateway.upstream.calls.at(-1)?.form?.get('file') as File
    expect(Buffer.from(await sound.arrayBuffer())).toEqual(wavOf(2.4))
    expect(await spent()).toBe(3 * NANO_PER_SECOND)
  })

  test('if all targets of a transcription fail, nothing is charged', async () => {
    gateway.upstream.respond(() => Response.json({ error: { message: 'down' } }, { status: 500 }))
    expect((await hear()).status).toBe(502)
    expect(await spent()).toBe(0)
  })

  test('a client that disconnects before its transcription pays nothing', async () => {
    const controller = new AbortController()
    const release = Promise.withResolvers<void>()
    gateway.upstream.respond(async (call) => {
      controller.abort()
      await release.promise
      return answerSound(call)
    })
    await hear({}, customer, { signal: controller.signal }).catch(() => undefined)
    expect(await spent()).toBe(0)
    release.resolve()
  })
})

test('a form with an idempotency key is charged once, even if its repetition has another boundary', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const first = await (await hear({}, customer, { headers })).text()
  const again = await hear({}, customer, { headers })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(await again.text()).toBe(first)
  expect(gateway.upstream.calls).toHaveLength(1)
  const other = await hear({ file: file(wavOf(1)) }, customer, { headers })
  expect(other.status).toBe(409)
  expect(await spent()).toBe(3 * NANO_PER_SECOND)
})

test('forty concurrent requests are all transcribed and charged exactly', async () => {
  gateway.upstream.respond((call) => {
    const sound = call.form?.get('file')
    const size = sound instanceof File ? sound.size : 0
    return Response.json({ text: String(size), usage: { type: 'duration', seconds: 1 } })
  })
  const files = Array.from({ length: 40 }, (_, index) => wavOf((index + 1) / 100))
  const answers = await Promise.all(files.map(async (bytes) => (await hear({ file: file(bytes) })).json()))
  expect(answers.map(({ text }) => Number(text))).toEqual(files.map(({ length }) => length))
  expect(await spent()).toBe(40 * NANO_PER_SECOND)
})
