/** Fallback through a whole gateway, between all formats: headers, and what is charged. Single faults are in attempt/faults.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import {
  chatChunk,
  chatCompletion,
  chatStream,
  eventStream,
  liveStream,
  type UpstreamCall,
} from '@test/support/upstream'
import { FORMATS, type ScriptedModels, soundAnswer, startScriptedModels, status } from './scripted-models'

const BOTH = [false, true]
const ROLE = chatChunk({ role: 'assistant', content: '' })

function liveWith(...events: unknown[]) {
  const live = liveStream()
  for (const event of events) live.write(`data: ${JSON.stringify(event)}\n\n`)
  return live
}

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

describe('another model answers before the first content', () => {
  const pairs = FORMATS.flatMap((client) =>
    FORMATS.flatMap((provider) => BOTH.map((stream) => [client, provider, stream] as const)),
  )
  test.each(pairs)('another model answers: %s client, %s fallback, streaming %p', async (client, provider, stream) => {
    const primary = world.modelWith(client, status(500))
    const sound = world.modelWith(provider, () => soundAnswer(provider, stream))
    const { response, text } = await world.ask({ format: client, model: primary, fallback: [sound], stream })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-model')).toBe(sound)
    expect(text).toMatch(/So[\s\S]*und/)
  })
})

describe('a stream for a client that requested JSON', () => {
  const half = [ROLE, chatChunk({ content: 'Half an ' })]

  test('a stream for a client that requested JSON becomes one answer, counted once if the provider gives no usage', async () => {
    const text = 'words and more '.repeat(40)
    const [streamed, whole] = [
      world.modelWith('chat-completions', () => eventStream(...chatStream([text], null))),
      world.modelWith('chat-completions', () => Response.json(chatCompletion(text, null))),
    ] as [string, string]
    const [first, second] = [
      await world.ask({ format: 'messages', model: streamed }),
      await world.ask({ format: 'messages', model: whole }),
    ]
    expect(JSON.parse(first.text).content).toEqual([{ type: 'text', text }])
    expect(Number(first.response.headers.get('x-svc-cost-usd'))).toBeGreaterThan(0)
    expect(first.response.headers.get('x-svc-cost-usd')).toBe(second.response.headers.get('x-svc-cost-usd'))
  })

  test('a stream for a client that requested JSON is charged up to the disconnect', async () => {
    let call: UpstreamCall | undefined
    const live = liveWith(...half)
    world.script((arrived) => {
      call = arrived
      return live.response
    })
    const payer = await world.gateway.customer('1')
    const client = new AbortController()
    const answer = fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${payer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 }),
      signal: client.signal,
    })
    answer.catch(() => undefined)
    await until(() => call, 'the provider to be asked')
    client.abort()
    await until(() => call?.isAborted, 'the provider to be stopped')
    const balance = await until(async () => {
      const now = await world.gateway.balance(payer.accountId)
      return now.held === 0 && now
    }, 'the hold to end')
    expect(balance.spent).toBeGreaterThan(0)
    expect(balance.spent).toBeLessThan(100_000)
  })
})

describe('all attempts failed', () => {
  test('if all attempts fail, the client gets the first model’s error; header and log have every attempt', async () => {
    const primary = world.modelWith('chat-completions', status(503, { 'retry-after': '7' }))
    const other = world.modelWith('messages', status(401))
    const { response, text } = await world.ask({ format: 'chat-completions', model: primary, fallback: [other] })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(response.headers.get('x-svc-attempts')).toBe('2')
    const [first, second] = [primary, other].map((model) => `${model}@${model.slice(4)}`)
    expect(response.headers.get('x-svc-attempt-list')).toBe(`${first}=503, ${second}=401`)
    expect(JSON.parse(text).error.message).toContain('overloaded')
    for (const model of [primary, other]) {
      const lines = world.gateway.logLines.filter((line) => line.includes('attempt_failed') && line.includes(model))
      expect(lines).toHaveLength(1)
    }
  })

  test('a refusal of our own key is a 502, whatever status the provider sends', async () => {
    const refused = () =>
      Response.json({ error: { message: 'API key not valid. Please pass a valid API key.' } }, { status: 400 })
    const model = world.modelWith('chat-completions', refused)
    const { response, text } = await world.ask({ format: 'chat-completions', model })
    expect(response.status).toBe(502)
    expect(text).not.toContain('API key')
    const alert = world.gateway.logLines.find(
      (line) => line.includes('provider_key_refused') && line.includes(model.slice(4)),
    )
    expect(alert).toBeDefined()
  })
})

test('a request that no model can serve is a 400 that names the unmet requirement of each model', async () => {
  const model = world.modelWith('chat-completions', status(500))
  const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const body = { messages: [{ role: 'user', content: [{ type: 'text', text: 'word '.repeat(400_000) }, audio] }] }
  const { response, text } = await world.ask({ format: 'chat-completions', model, body })
  expect(response.status).toBe(400)
  expect(text).toContain(`${model} has a context of 256000 tokens`)
})
