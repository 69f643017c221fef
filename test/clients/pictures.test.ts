/** Pictures through the real libraries, from providers of either format. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { answerPictures, PICTURE, pictureEvent, sellPictures, USAGE } from '@test/gateway/picture-providers'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { generateImage } from 'ai'
import OpenAI, { toFile } from 'openai'
import OpenAI6 from 'openai-6'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: answerPictures, catalog: sellPictures })
  customer = await gateway.customer('50')
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.upstream.calls.length = 0
  gateway.upstream.respond(answerPictures)
})

const clients = [
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const
const MODELS = ['svc/picture', 'svc/picture-each', 'svc/picture-gemini']
const cases = clients.flatMap(([name, client]) => MODELS.map((model) => [name, model, client] as const))
const clientOf = (Client: typeof OpenAI) =>
  new Client({ apiKey: customer.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

test.each(cases)('%s makes and changes pictures with %s', async (_, model, Client) => {
  const client = clientOf(Client)
  const made = await client.images.generate({ model, prompt: 'A red fox', size: '1024x1024' })
  expect(made.data?.map(({ b64_json }) => b64_json)).toEqual([PICTURE])
  const image = await toFile(Buffer.from('a picture'), 'fox.png', { type: 'image/png' })
  const changed = await client.images.edit({ model, prompt: 'Make it blue', image: [image] })
  expect(changed.data?.map(({ b64_json }) => b64_json)).toEqual([PICTURE])
})

test.each(clients)('%s gets partial and finished pictures of a stream', async (_, Client) => {
  const text =
    pictureEvent('image_generation.partial_image', { partial_image_index: 0 }) +
    pictureEvent('image_generation.completed', { usage: USAGE })
  gateway.upstream.respond(() => new Response(text, { headers: { 'content-type': 'text/event-stream' } }))
  const asked = { model: 'svc/picture', prompt: 'A red fox', stream: true, partial_images: 1 } as const
  const types: string[] = []
  for await (const event of await clientOf(Client).images.generate(asked)) types.push(event.type)
  expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed'])
})

test.each(clients)('%s gets the finished picture of Gemini as a stream', async (_, Client) => {
  const asked = { model: 'svc/picture-gemini', prompt: 'A red fox', stream: true } as const
  const events: unknown[] = []
  for await (const event of await clientOf(Client).images.generate(asked)) events.push(event)
  expect(events).toMatchObject([
    { type: 'image_generation.completed', b64_json: PICTURE, usage: { output_tokens: 1_290 } },
  ])
})

test.each(clients)('%s gets an error that names the field', async (_, Client) => {
  const wrong: unknown = await clientOf(Client)
    .images.generate({ model: 'svc/alpha', prompt: 'A red fox' })
    .catch((error) => error)
  expect(wrong).toMatchObject({ status: 400, param: 'model', code: 'wrong_endpoint' })
})

test.each(MODELS)('AI SDK makes a picture with %s', async (model) => {
  const provider = createOpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1` })
  const { image } = await generateImage({ model: provider.image(model), prompt: 'A red fox', size: '1024x1024' })
  expect(image.base64).toBe(PICTURE)
})

test.each(['svc/artist', 'svc/artist-gemini'])('@google/genai gets text and a picture from %s', async (model) => {
  gateway.upstream.respond(answerPictures)
  const client = new GoogleGenAI({ apiKey: customer.key, httpOptions: { baseUrl: gateway.url } })
  const config = { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9' } }
  const { candidates } = await client.models.generateContent({ model, contents: 'Draw a red fox', config })
  const parts = candidates?.[0]?.content?.parts ?? []
  expect(parts.map(({ text, inlineData }) => inlineData?.data ?? text)).toEqual(['Here:', PICTURE])
})
