/** Speech: reserved and charged by characters or tokens, relayed as it arrives, free if it fails. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { spentAtRest } from '@test/money-bugs/support'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { nano } from '@/lib/money'
import {
  answerSound,
  NANO_PER_CHARACTER,
  NANO_PER_SOUND_TOKEN,
  NANO_PER_TEXT_TOKEN,
  SPOKEN_SOUND,
  sellAudio,
  soundOf,
  spoken,
  spokenEvents,
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

const INPUT = 'Good morning!'
const COST = INPUT.length * NANO_PER_CHARACTER

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

function speak(body: object, { key }: { key: string } = customer, { headers, ...init }: Init = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'svc/tts', input: INPUT, voice: 'alloy', ...body }),
    ...init,
  })
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer())
}

const spent = ({ accountId } = customer) => spentAtRest(gateway, accountId)

/** Sound that a test writes piece by piece. */
function liveSound(contentType = 'audio/mpeg') {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened
    },
  })
  return {
    response: new Response(body, { headers: { 'content-type': contentType } }),
    write: (bytes: Uint8Array) => controller?.enqueue(bytes),
    close: () => controller?.close(),
    error: () => controller?.error(new Error('scripted break')),
  }
}

describe('speech priced by characters', () => {
  test('speech is the provider’s audio, and costs its characters; headers state the cost', async () => {
    const answer = await speak({})
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
    expect(answer.headers.get('x-svc-cost-usd')).toBe('0.000195')
    expect(answer.headers.get('x-svc-model')).toBe('svc/tts')
    expect(answer.headers.get('x-svc-provider')).toBe('provider1')
    expect(await bytesOf(answer)).toEqual(SPOKEN_SOUND)
    expect(await spent()).toBe(COST)
  })

  test.each([
    ['emoji', '👍👍', 2],
    ['letters with marks', 'e\u0301', 2],
    ['letters of two units in UTF-16', '𝒳y', 2],
    ['line ends', 'a\r\nb', 4],
  ])('%s: each Unicode code point counts as a character', async (_, input, characters) => {
    await (await speak({ input })).arrayBuffer()
    expect(await spent()).toBe(characters * NANO_PER_CHARACTER)
  })

  test('the provider gets its own model name, all listed fields, and no others', async () => {
    const fields = { instructions: 'gently', response_format: 'opus', speed: 1.5, stream_format: 'audio' }
    const answer = await speak({ ...fields, svc: {}, unknown: 1 })
    const [call] = gateway.upstream.calls
    expect(call?.path).toBe('/v1/audio/speech')
    expect(call?.body).toEqual({ model: 'provider1-tts', input: INPUT, voice: 'alloy', ...fields })
    expect(call?.headers.get('authorization')).toBe('Bearer sk-provider1-secret-canary')
    expect(answer.headers.get('x-svc-left-out')).toBe('unknown')
  })

  test('audio is relayed while the provider is still sending', async () => {
    const sound = liveSound()
    gateway.upstream.respond(() => sound.response)
    const asked = speak({})
    sound.write(soundOf(100))
    const reader = (await asked).body?.getReader()
    const first = await reader?.read()
    expect(first?.value?.length).toBe(100)
    sound.write(soundOf(50))
    expect((await reader?.read())?.value?.length).toBe(50)
    sound.close()
    expect((await reader?.read())?.done).toBe(true)
    expect(await spent()).toBe(COST)
  })

  test('events of speech are passed on unchanged', async () => {
    const answer = await speak({ stream_format: 'sse' })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    expect(await answer.text()).toBe(await spokenEvents().text())
    expect(await spent()).toBe(COST)
  })

  test('the usage record of speech has the number of characters', async () => {
    await (await speak({})).arrayBuffer()
    let rows: readonly unknown[] = []
    await until(async () => {
      rows = await gateway.gateway.database.sql`
        SELECT units FROM usage_records WHERE account_id = ${customer.accountId}`
      return rows.length > 0
    }, 'the record')
    expect([...rows]).toEqual([{ units: [{ billable: 'input_text', unit: 'character', count: INPUT.length }] }])
  })
})

describe('speech priced by tokens', () => {
  const model = 'svc/tts-tokens'
  const tokens = 10 * NANO_PER_TEXT_TOKEN + 40 * NANO_PER_SOUND_TOKEN

  test.each(['audio', undefined])(
    'the provider is asked for events, and the client gets only the audio (%p)',
    async (format) => {
      const answer = await speak({ model, ...(format && { stream_format: format }) })
      expect(answer.headers.get('content-type')).toBe('audio/mpeg')
      expect(await bytesOf(answer)).toEqual(SPOKEN_SOUND)
      expect(gateway.upstream.calls[0]?.body.stream_format).toBe('sse')
      expect(await spent()).toBe(tokens)
    },
  )

  test('a client that asks for speech events gets them', async () => {
    const answer = await speak({ model, stream_format: 'sse' })
    expect(await answer.text()).toBe(await spokenEvents().text())
    expect(await spent()).toBe(tokens)
  })

  test('after a disconnect during the audio, the rest is read, and the usage is charged', async () => {
    const sound = liveSound('text/event-stream')
    gateway.upstream.respond(() => sound.response)
    const controller = new AbortController()
    const asked = speak({ model }, customer, { signal: controller.signal })
    const [first = '', ...rest] = (await spokenEvents().text()).split(/(?<=\n\n)/)
    sound.write(Buffer.from(first))
    const reader = (await asked).body?.getReader()
    await reader?.read()
    controller.abort()
    sound.write(Buffer.from(rest.join('')))
    sound.close()
    expect(await spent()).toBe(tokens)
  })

  test('audio that breaks off before the provider states its usage is charged by its length', async () => {
    const sound = liveSound('text/event-stream')
    gateway.upstream.respond(() => sound.response)
    const asked = speak({ model, response_format: 'pcm' })
    const audio = Buffer.from(soundOf(48_000)).toString('base64')
    sound.write(Buffer.from(`data: ${JSON.stringify({ type: 'speech.audio.delta', audio })}\n\n`))
    const reader = (await asked).body?.getReader()
    await reader?.read()
    sound.error()
    await expect(reader?.read()).rejects.toThrow()
    expect(await spent()).toBe(21 * NANO_PER_SOUND_TOKEN)
  })
})

describe('refused speech', () => {
  const CASES: [string, object, number, string | null][] = [
    ['no input', { input: undefined }, 400, 'input'],
    ['an empty input', { input: '' }, 400, 'input'],
    ['an input that is too long', { input: 'x'.repeat(4_097) }, 400, 'input'],
    ['no voice', { voice: undefined }, 400, 'voice'],
    ['another file format', { response_format: 'midi' }, 400, 'response_format'],
    ['a speed of 9', { speed: 9 }, 400, 'speed'],
    ['a fallback', { fallback: ['svc/tts-two'] }, 400, 'fallback'],
    ['a chat model', { model: 'svc/alpha' }, 400, 'model'],
    ['a model that transcribes', { model: 'svc/stt' }, 400, 'model'],
    ['an unknown model', { model: 'svc/nothing' }, 404, 'model'],
    ['a rule that no provider obeys', { svc: { zero_retention: true } }, 404, 'svc.zero_retention'],
    ['a provider that does not serve it', { svc: { providers: { only: ['spare'] } } }, 400, 'svc.providers'],
  ]

  test.each(CASES)('%s: speech is refused before a call', async (_, body, status, param) => {
    const answer = await speak(body)
    expect(answer.status).toBe(status)
    expect(((await answer.json()) as { error: { param: string | null } }).error.param).toBe(param)
    expect(gateway.upstream.calls).toHaveLength(0)
    expect(await spent()).toBe(0)
  })

  test('a speech input with exactly the maximum of characters is accepted', async () => {
    await (await speak({ input: '👍'.repeat(4_096) })).arrayBuffer()
    expect(await spent()).toBe(4_096 * NANO_PER_CHARACTER)
  })

  test('a chat request to a speech model is refused, with the right endpoint in the error', async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc/tts', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect(await answer.json()).toMatchObject({
      error: { code: 'wrong_endpoint', message: expect.stringContaining('/v1/audio/speech') },
    })
  })

  test('with credit for one character too few, speech is a 402 before any call', async () => {
    const poor = await gateway.customer('0.00018')
    const answer = await speak({}, poor)
    expect(answer.status).toBe(402)
    expect(gateway.upstream.calls).toHaveLength(0)
    const paid = await gateway.customer('0.000195')
    expect((await speak({}, paid)).status).toBe(200)
  })
})

describe('failed speech', () => {
  test.each([
    ['an error', () => Response.json({ error: { message: 'down' } }, { status: 500 })],
    ['an error with status 200', () => Response.json({ error: { message: 'overloaded' } })],
    ['no bytes', () => spoken(new Uint8Array())],
  ])('%s: another target makes the speech, and only that call is charged', async (_, failing) => {
    gateway.upstream.respond((call) => (call.body.model === 'provider1-tts' ? failing() : spoken()))
    const answer = await speak({ model: 'svc/tts-two' })
    expect([answer.status, answer.headers.get('x-svc-provider')]).toEqual([200, 'spare'])
    expect(await bytesOf(answer)).toEqual(SPOKEN_SOUND)
    expect(await spent()).toBe(COST)
  })

  test('an error event before any audio leads to another target', async () => {
    const failing = 'data: {"type":"error","error":{"message":"overloaded","code":"server_error"}}\n\n'
    const headers = { 'content-type': 'text/event-stream' }
    gateway.upstream.respond((call) =>
      call.body.model === 'provider1-tts' ? new Response(failing, { headers }) : spokenEvents(),
    )
    const answer = await speak({ model: 'svc/tts-two', stream_format: 'sse' })
    expect(answer.headers.get('x-svc-provider')).toBe('spare')
    expect(await answer.text()).toBe(await spokenEvents().text())
  })

  test('if all targets fail, nothing is charged and the error has the caller’s format', async () => {
    gateway.upstream.respond(() => Response.json({ error: { message: 'down' } }, { status: 500 }))
    const answer = await speak({})
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } })
    expect(await spent()).toBe(0)
  })

  test('if the audio breaks off, the response breaks too, and costs its characters', async () => {
    const sound = liveSound()
    gateway.upstream.respond(() => sound.response)
    const asked = speak({})
    sound.write(soundOf(100))
    const answer = await asked
    const reader = answer.body?.getReader()
    await reader?.read()
    sound.error()
    await expect(reader?.read()).rejects.toThrow()
    expect(await spent()).toBe(COST)
  })

  test('speech events that break off end in an error event', async () => {
    const sound = liveSound('text/event-stream')
    gateway.upstream.respond(() => sound.response)
    const asked = speak({ stream_format: 'sse' })
    sound.write(Buffer.from('data: {"type":"speech.audio.delta","audio":"AAAA"}\n\n'))
    const answer = await asked
    sound.close()
    expect(await answer.text()).toMatch(/speech\.audio\.delta.*\n\nevent: error\ndata: \{"error":.*\n\n$/s)
  })
})

describe('a client that disconnects', () => {
  test('a disconnect before the first byte of speech costs nothing', async () => {
    const controller = new AbortController()
    const release = Promise.withResolvers<void>()
    gateway.upstream.respond(async () => {
      controller.abort()
      await release.promise
      return spoken()
    })
    await speak({}, customer, { signal: controller.signal }).catch(() => undefined)
    expect(await spent()).toBe(0)
    release.resolve()
  })

  test('after ten free disconnects an hour, a disconnect before the first byte costs the characters', async () => {
    for (let count = 0; count < 11; count++) {
      const controller = new AbortController()
      const release = Promise.withResolvers<void>()
      gateway.upstream.respond(async () => {
        controller.abort()
        await release.promise
        return spoken()
      })
      await speak({}, customer, { signal: controller.signal }).catch(() => undefined)
      expect(await spent()).toBe(count < 10 ? 0 : COST)
      release.resolve()
    }
  })

  test('a disconnect during the audio ends the provider’s call, and costs the characters', async () => {
    const sound = liveSound()
    gateway.upstream.respond(() => sound.response)
    const controller = new AbortController()
    const asked = speak({}, customer, { signal: controller.signal })
    sound.write(soundOf(100))
    const reader = (await asked).body?.getReader()
    await reader?.read()
    controller.abort()
    expect(await spent()).toBe(COST)
    await until(() => gateway.upstream.calls[0]?.isAborted === true, 'the call to end')
  })
})

describe('a request with an idempotency key', () => {
  test('two requests with one idempotency key are charged once, and get the same bytes', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const first = await bytesOf(await speak({}, customer, { headers }))
    const again = await speak({}, customer, { headers })
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(again.headers.get('content-type')).toBe('audio/mpeg')
    expect(again.headers.get('kept-as')).toBeNull()
    expect(await bytesOf(again)).toEqual(first)
    expect(gateway.upstream.calls).toHaveLength(1)
    expect(await spent()).toBe(COST)
  })

  test('audio that breaks off also breaks the response of a request with an idempotency key', async () => {
    const sound = liveSound()
    gateway.upstream.respond(() => sound.response)
    const asked = speak({}, customer, { headers: { 'idempotency-key': crypto.randomUUID() } })
    sound.write(soundOf(100))
    const reader = (await asked).body?.getReader()
    await reader?.read()
    sound.error()
    await expect(reader?.read()).rejects.toThrow()
  })
})

test('forty concurrent requests get complete audio, and are charged exactly', async () => {
  const inputs = Array.from({ length: 40 }, (_, index) => 'x'.repeat(index + 1))
  gateway.upstream.respond((call) => spoken(soundOf(String(call.body.input).length * 1_000)))
  const sounds = await Promise.all(inputs.map(async (input) => bytesOf(await speak({ input }))))
  for (const [index, sound] of sounds.entries()) expect(sound).toEqual(Buffer.from(soundOf((index + 1) * 1_000)))
  expect(await spent()).toBe(820 * NANO_PER_CHARACTER)
  expect((await gateway.balance(customer.accountId)).available).toBe(nano(1_000_000_000 - 820 * NANO_PER_CHARACTER))
})
