/** Answers translated by a dialect: streams, whole answers and errors, and what a reader gets of them. */
import { afterAll, expect, test } from 'bun:test'
import { startUpstream } from '@test/support/upstream'
import type { Dialect } from '@/dialects/dialect'
import { FORMATS } from '@/formats/index'
import { callUpstream } from '@/upstream/client'
import { callOf } from './raw-provider'

const upstream = startUpstream(() => new Response(null, { status: 500 }))
afterAll(() => upstream.stop())

const decoder = new TextDecoder()

/** Says in capitals what the provider says in small letters, and one word more at its end; of a body, the `inner` part. */
function shouting(): Dialect {
  const endpoint = FORMATS.get('chat-completions')?.endpoint
  if (!endpoint) throw new Error('no format')
  return {
    ...endpoint,
    readAnswer(headers) {
      const isStream = headers.get('content-type') === 'application/whispered'
      if (!isStream && !headers.has('x-whole')) return undefined
      return isStream
        ? { kind: 'stream', push: (bytes) => decoder.decode(bytes).replace(/-/g, '').toUpperCase(), end: () => 'END' }
        : { kind: 'whole', read: (json) => (json === 'none' ? undefined : { inner: json }) }
    },
    decodeError: (status, headers) => ({
      ...{ reason: 'server', status, kind: headers.get('x-kind') ?? '', message: 'in other words' },
    }),
  }
}

async function answered(response: Response) {
  upstream.respond(() => response)
  return callUpstream(callOf(upstream.url, { provider: { dialect: shouting() }, stream: true }))
}

test('a stream is read in the dialect’s translation, up to its end', async () => {
  const answer = await answered(new Response('a-b-', { headers: { 'content-type': 'application/whispered' } }))
  if (answer.kind === 'failed') throw new Error('no answer')
  expect(answer.isEventStream).toBe(true)
  let text = ''
  for (let chunk = await answer.read(); chunk.kind === 'bytes'; chunk = await answer.read()) {
    text += decoder.decode(chunk.bytes)
  }
  expect(text).toBe('ABEND')
  expect(answer.hasSent()).toBe(true)
})

test('a piped answer is translated, and its empty events are omitted', async () => {
  const answer = await answered(new Response('--', { headers: { 'content-type': 'application/whispered' } }))
  if (answer.kind === 'failed') throw new Error('no answer')
  const seen: string[] = []
  const ended = Promise.withResolvers<unknown>()
  const readable = answer.pipeThrough({
    start: () => undefined,
    cancel: () => undefined,
    transform(bytes) {
      seen.push(decoder.decode(bytes))
      return undefined
    },
    flush(failure) {
      ended.resolve(failure)
      return undefined
    },
  })
  for await (const _ of readable) break
  expect(await ended.promise).toBeUndefined()
  expect(seen).toEqual(['END'])
})

test('a whole answer is read in the dialect’s translation, if there is one', async () => {
  const headers = { 'x-whole': 'yes' }
  const whole = await answered(Response.json('all', { headers }))
  if (whole.kind === 'failed') throw new Error('no answer')
  const body = await whole.readAll(100)
  expect(body.kind === 'body' && decoder.decode(body.bytes)).toBe('{"inner":"all"}')
  for (const response of [Response.json('none', { headers }), new Response('<html>', { headers })]) {
    const none = await answered(response)
    if (none.kind === 'failed') throw new Error('no answer')
    expect(await none.readAll(100)).toMatchObject({ kind: 'failed', failure: { kind: 'malformed' } })
  }
})

test('a relayed whole answer keeps all digits of its numbers', async () => {
  const whole = await answered(new Response('{"a":[1098765432109876543,1.0,-0]}', { headers: { 'x-whole': 'yes' } }))
  if (whole.kind === 'failed') throw new Error('no answer')
  const body = await whole.readAll(100)
  expect(body.kind === 'body' && decoder.decode(body.bytes)).toBe('{"inner":{"a":[1098765432109876543,1.0,-0]}}')
})

test('an answer that already has the format is unchanged', async () => {
  const answer = await answered(new Response('{"a": 1}', { headers: { 'content-type': 'application/json' } }))
  if (answer.kind === 'failed') throw new Error('no answer')
  const body = await answer.readAll(100)
  expect(body.kind === 'body' && decoder.decode(body.bytes)).toBe('{"a": 1}')
})

test('an error is read by the dialect’s decoder', async () => {
  expect(await answered(new Response('', { status: 500, headers: { 'x-kind': 'Odd' } }))).toEqual({
    kind: 'failed',
    failure: { kind: 'refused', error: { reason: 'server', status: 500, kind: 'Odd', message: 'in other words' } },
  })
})
