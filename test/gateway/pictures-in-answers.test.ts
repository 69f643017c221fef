/** Pictures in chat answers: requested in one format, made in the same or another, and charged as pictures. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { spentAtRest } from '@test/money-bugs/support'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatChunk, chatCompletion, eventStream, usageOf } from '@test/support/upstream'
import { answerPictures, PICTURE, sellPictures } from './picture-providers'

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

function post(path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' }
  return fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

const chat = (model: string, more: object = {}) =>
  post('/v1/chat/completions', {
    ...{ model, messages: [{ role: 'user', content: 'Draw a fox' }], modalities: ['image', 'text'] },
    ...more,
  })

const generate = (model: string, generationConfig: object = { responseModalities: ['TEXT', 'IMAGE'] }) =>
  post(`/v1beta/models/${model}:generateContent`, { contents: [{ parts: [{ text: 'Draw a fox' }] }], generationConfig })

const spent = ({ accountId } = customer) => spentAtRest(gateway, accountId)

const ADDRESS = `data:image/png;base64,${PICTURE}`
/** 5 tokens in at 1,000, 5 of text out at 2,000, and 1,290 of a picture at 30,000 nano-USD. */
const COST = 5 * 1_000 + 5 * 2_000 + 1_290 * 30_000

describe.each(['svc/artist', 'svc/artist-gemini'])('pictures in answers of %s', (model) => {
  test('a chat client gets pictures in the message, at the price of pictures', async () => {
    const answer = await chat(model)
    expect(answer.status).toBe(200)
    const { choices } = (await answer.json()) as { choices: { message: object }[] }
    expect(choices[0]?.message).toMatchObject({
      content: 'Here:',
      images: [{ type: 'image_url', image_url: { url: ADDRESS } }],
    })
    expect(await spent()).toBe(COST)
  })

  test('a chat client gets pictures in a stream', async () => {
    const text = await (await chat(model, { stream: true })).text()
    expect(text).toContain(ADDRESS)
    expect(text).toEndWith('data: [DONE]\n\n')
    expect(await spent()).toBe(COST)
  })

  test('a generate-content client gets pictures as parts', async () => {
    const answer = await generate(model)
    const { candidates } = (await answer.json()) as { candidates: { content: { parts: unknown[] } }[] }
    expect(candidates[0]?.content.parts).toEqual([
      { text: 'Here:' },
      { inlineData: { mimeType: 'image/png', data: PICTURE } },
    ])
    expect(await spent()).toBe(COST)
  })
})

describe('the request for pictures', () => {
  test('a chat provider gets a chat client’s picture fields', async () => {
    await chat('svc/artist', { image_config: { aspect_ratio: '16:9', image_size: '2K' } })
    expect(gateway.upstream.calls[0]?.body).toMatchObject({
      modalities: ['image', 'text'],
      image_config: { aspect_ratio: '16:9', image_size: '2K' },
    })
  })

  test('Gemini gets a chat client’s picture fields, translated', async () => {
    await chat('svc/artist-gemini', { image_config: { aspect_ratio: '16:9', image_size: '2K' } })
    expect(gateway.upstream.calls[0]?.body.generationConfig).toEqual({
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
    })
  })

  test('a chat provider gets a Gemini client’s picture fields, translated', async () => {
    await generate('svc/artist', { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '1:1' } })
    expect(gateway.upstream.calls[0]?.body).toMatchObject({
      modalities: ['image'],
      image_config: { aspect_ratio: '1:1' },
    })
  })
})

describe('pictures whose tokens the provider does not count', () => {
  const images = [{ type: 'image_url', image_url: { url: ADDRESS } }]
  afterEach(() => gateway.upstream.respond(answerPictures))

  test('output tokens that are not text have the price of pictures', async () => {
    const answer = chatCompletion('', usageOf(5, 1_200))
    const choices = answer.choices.map((choice) => ({ ...choice, message: { ...choice.message, images } }))
    gateway.upstream.respond(() => Response.json({ ...answer, choices }))
    expect((await chat('svc/artist')).status).toBe(200)
    expect(await spent()).toBe(5 * 1_000 + 1_200 * 30_000)
  })

  test('a picture in a broken stream costs an estimate', async () => {
    gateway.upstream.respond(() => eventStream(chatChunk({ role: 'assistant', images })))
    await (await chat('svc/artist', { stream: true })).text()
    expect(await spent()).toBeGreaterThan(1_056 * 30_000)
  })
})

describe('pictures that are refused', () => {
  test('a model without a price for pictures refuses to make pictures', async () => {
    const answer = await chat('svc/alpha')
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: 'no_capable_model', param: 'model' } })
    expect((await generate('svc/alpha')).status).toBe(400)
    expect(gateway.upstream.calls).toHaveLength(0)
  })

  test('a chat request for audio output is refused', async () => {
    const answer = await chat('svc/artist', { modalities: ['text', 'audio'] })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param: 'modalities' } })
  })

  test('a model of another format refuses pictures, or answers without them if the caller accepts the loss', async () => {
    const answer = await chat('svc/artist-messages')
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param: 'modalities' } })
  })
})
