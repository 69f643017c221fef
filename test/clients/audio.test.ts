/** Speech and transcriptions through the real libraries: each gets the sound or text of its provider. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { answerSound, SPOKEN_SOUND, sellAudio, wavOf } from '@test/gateway/media/sounds'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { generateSpeech, transcribe } from 'ai'
import OpenAI, { toFile } from 'openai'
import OpenAI6 from 'openai-6'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: answerSound, catalog: sellAudio })
  customer = await gateway.customer('5')
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.upstream.calls.length = 0
})

const CLIENTS = [
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const
const SPEAKERS = ['svc/tts', 'svc/tts-tokens']

const clientOf = (Client: typeof OpenAI, key = customer.key) =>
  new Client({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

test.each(CLIENTS.flatMap(([name, Client]) => SPEAKERS.map((model) => [name, model, Client] as const)))(
  '%s gets the audio of %s, as a whole and as a stream',
  async (_, model, Client) => {
    const client = clientOf(Client)
    const whole = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello' })
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(SPOKEN_SOUND)
    const streamed = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello', response_format: 'pcm' })
    const pieces: Uint8Array[] = []
    for await (const piece of streamed.body ?? []) pieces.push(piece)
    expect(Buffer.concat(pieces)).toEqual(SPOKEN_SOUND)
  },
)

test.each(CLIENTS)('%s gets transcripts and translations in each response format', async (_, Client) => {
  const client = clientOf(Client)
  const file = await toFile(wavOf(2.4), 'hello.wav')
  const model = 'svc/stt'
  expect((await client.audio.transcriptions.create({ model, file })).text).toBe('Hello')
  const text = await client.audio.transcriptions.create({ model, file, response_format: 'text' })
  expect(String(text)).toBe('Hello\n')
  const verbose = await client.audio.transcriptions.create({
    ...{ model, file, response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'], language: 'en' },
  })
  expect([verbose.text, verbose.duration]).toEqual(['Hello', 2.4])
  expect(gateway.upstream.calls.at(-1)?.form?.getAll('timestamp_granularities[]')).toEqual(['word', 'segment'])
  expect((await client.audio.translations.create({ model, file })).text).toBe('Hello')
})

test.each(CLIENTS)('%s reads a transcript event by event', async (_, Client) => {
  const file = await toFile(wavOf(2.4), 'hello.wav')
  const stream = await clientOf(Client).audio.transcriptions.create({ model: 'svc/stt', file, stream: true })
  const types: string[] = []
  for await (const event of stream) types.push(event.type)
  expect(types).toEqual(['transcript.text.delta', 'transcript.text.delta', 'transcript.text.done'])
})

test.each(CLIENTS)('%s throws its own error classes', async (_, Client) => {
  const client = clientOf(Client)
  const wrong = client.audio.speech.create({ model: 'svc/stt', voice: 'alloy', input: 'Hello' })
  expect(await wrong.catch((error: unknown) => error)).toMatchObject({
    status: 400,
    code: 'wrong_endpoint',
    param: 'model',
  })
  const poor = clientOf(Client, (await gateway.customer('0.00001')).key)
  const unpaid = poor.audio.speech.create({ model: 'svc/tts', voice: 'alloy', input: 'Hello' })
  expect(await unpaid.catch((error: unknown) => error)).toMatchObject({ status: 402 })
  expect(gateway.upstream.calls).toHaveLength(0)
})

test('the AI SDK gets audio and transcripts', async () => {
  const provider = createOpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1` })
  for (const model of SPEAKERS) {
    const { audio } = await generateSpeech({ model: provider.speech(model), text: 'Hello', voice: 'alloy' })
    expect(Buffer.from(audio.uint8Array)).toEqual(SPOKEN_SOUND)
  }
  const { text } = await transcribe({ model: provider.transcription('svc/stt'), audio: wavOf(2.4) })
  expect(text).toBe('Hello')
})
