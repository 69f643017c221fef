/** The results of a trial at providers of each format that support everything, something, or nothing. */
import { afterEach, expect, test } from 'bun:test'
import { type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { loadCatalog } from '@/catalog/catalog'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { tryProvider } from '@/upstream/trial/try-provider'
import { answerOf, startAbleProvider } from './able-provider'

const running: ScriptedUpstream[] = []
afterEach(() => {
  for (const upstream of running.splice(0)) upstream.stop()
})

const ABLE = ['tools', 'images', 'json-schema']
const COST = { costPer1mInputTokens: 1, costPer1mOutputTokens: 10 }
const KEY = 'provider-key-canary'

function catalogOf(format: FormatName, upstream: ScriptedUpstream, capabilities = ABLE, more: JsonObject = {}) {
  running.push(upstream)
  const model = (name: string) => ({
    ...{ id: `svc/${name}`, name, created: 1, ownedBy: 'x', contextLength: 10_000, maxOutputTokens: 1_000 },
    ...{ capabilities, pricing: { inputPer1mTokens: 2, outputPer1mTokens: 20, ...COST } },
    targets: [{ provider: 'it', model: `its-${name}` }],
  })
  const file = {
    service: 'svc',
    providers: { it: { format, baseUrl: upstream.url, keys: [KEY], ...more } },
    models: ['one', 'two', 'three', 'four', 'five'].map(model),
  }
  const loaded = loadCatalog(JSON.stringify(file), {})
  assert(loaded.kind === 'loaded', 'a sound catalogue')
  return loaded.catalog
}

test.each([...FORMAT_NAMES])('all trials pass at a %s provider with all capabilities', async (format) => {
  const upstream = startAbleProvider(format)
  const trials = await tryProvider(catalogOf(format, upstream), 'it')
  expect(trials?.map(({ model, target }) => `${model} ${target}`)).toEqual([
    ...['svc/one its-one', 'svc/two its-two', 'svc/three its-three', 'svc/four its-four', 'svc/five its-five'],
  ])
  for (const trial of trials ?? []) {
    expect(trial).toMatchObject({
      ...{ text: 'works', stream: 'works', tools: 'works', images: 'works', schema: 'works', usage: 'works' },
      ...{ faults: [], firstTokenMs: expect.any(Number) },
      // Five answers of 20 tokens read and 4 written.
      cost: 5 * (20_000 + 40_000),
    })
  }
  expect(upstream.calls).toHaveLength(25)
})

test('a trial does not test capabilities that a model does not list', async () => {
  const upstream = startAbleProvider('chat-completions')
  const [trial] = (await tryProvider(catalogOf('chat-completions', upstream, []), 'it')) ?? []
  expect(trial).toMatchObject({
    text: 'works',
    stream: 'works',
    tools: 'untried',
    images: 'untried',
    schema: 'untried',
  })
  expect(upstream.calls).toHaveLength(10)
})

test('a trial reports wrong answers, missing usage and refusals one by one', async () => {
  const upstream = startAbleProvider('chat-completions', ({ tools, output, turns, stream }) => {
    if (tools.length > 0) return answerOf({ type: 'text', text: 'I noted it.' })
    if (output.type === 'json-schema') {
      return Response.json({ error: { message: `no schemas for ${KEY}`, code: 'unsupported' } }, { status: 400 })
    }
    if (turns.some(({ content }) => content.length > 1)) return answerOf({ type: 'text', text: 'Blue' })
    return stream ? answerOf({ type: 'text', text: 'ok' }, null) : undefined
  })
  const [trial] = (await tryProvider(catalogOf('chat-completions', upstream), 'it')) ?? []
  expect(trial).toMatchObject({
    ...{ text: 'works', stream: 'works', tools: 'fails', images: 'fails', schema: 'fails', usage: 'fails' },
    faults: [
      { of: 'usage', why: 'not reported in the answer to stream' },
      { of: 'tools', why: 'no call of the tool' },
      { of: 'images', why: 'does not name the colour of the picture' },
      { of: 'schema', why: expect.stringMatching(/^it: 400 unsupported: no schemas for /) },
    ],
  })
  expect(JSON.stringify(trial)).not.toContain(KEY)
})

test('if neither text nor stream works, a trial runs no further test', async () => {
  const upstream = startUpstream(() => new Response('<html>', { status: 401 }))
  const [trial] = (await tryProvider(catalogOf('messages', upstream), 'it')) ?? []
  expect(trial).toMatchObject({ text: 'fails', stream: 'fails', tools: 'untried', usage: 'untried', cost: null })
  expect(upstream.calls).toHaveLength(10)
})

test.each<[string, () => Response, string]>([
  ['no JSON', () => new Response('<html>'), 'is no answer of chat-completions'],
  [
    'a stream that breaks off',
    () => new Response('data: {}\n\n', { headers: { 'content-type': 'text/event-stream' } }),
    'the stream ended without its terminator',
  ],
  [
    'an error in a stream',
    () =>
      new Response('data: {"error":{"message":"x","code":"overloaded"}}\n\n', {
        headers: { 'content-type': 'text/event-stream' },
      }),
    'in the stream: ',
  ],
])('an answer that is %s fails the trial', async (_, answer, why) => {
  const upstream = startUpstream(answer)
  const [trial] = (await tryProvider(catalogOf('chat-completions', upstream), 'it')) ?? []
  expect(trial?.faults[0]).toEqual({ of: 'text', why: expect.stringContaining(why) })
})

test('a trial of an unknown provider name is refused', async () => {
  expect(await tryProvider(catalogOf('messages', startAbleProvider('messages')), 'other')).toBeUndefined()
})
