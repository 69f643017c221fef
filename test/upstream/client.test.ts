/** One call to a provider: the request, the limits on reading the answer, and the end of the call. */
import { afterEach, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import type { Socket } from 'bun'
import type { UpstreamAnswer } from '@/upstream/answer'
import { callUpstream } from '@/upstream/client'
import {
  type CallChanges,
  callOf,
  chunk,
  head,
  LAST_CHUNK,
  type RawProvider,
  startRawProvider,
  type UpstreamCall,
} from './raw-provider'

const running: RawProvider[] = []
afterEach(() => {
  for (const provider of running.splice(0)) provider.stop()
})

function provider(...args: Parameters<typeof startRawProvider>): RawProvider {
  const started = startRawProvider(...args)
  running.push(started)
  return started
}

/** A provider that answers every request with this text. */
function saying(text: string): RawProvider {
  return provider((socket) => void socket.write(text))
}

async function answerOf(call: UpstreamCall): Promise<UpstreamAnswer> {
  const answer = await callUpstream(call)
  if (answer.kind === 'failed') throw new Error(`failed: ${JSON.stringify(answer.failure)}`)
  return answer
}

function answerTo(text: string, changes: CallChanges = {}): Promise<UpstreamAnswer> {
  return answerOf(callOf(saying(text).url, changes))
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const EVENTS = { 'content-type': 'text/event-stream' }

describe('the request to a provider', () => {
  test('S8: a provider gets the body unchanged, and only headers that the gateway builds', async () => {
    const upstream = saying(head(200, { 'content-length': '2' }).concat('{}'))
    await answerOf(callOf(`${upstream.url}/v1`, { bodyText: '{"a": "ü"}' }))
    const [line, ...lines] = (upstream.requests[0] ?? '').split('\r\n')
    expect(line).toBe('POST /v1/chat/completions HTTP/1.1')
    const names = lines.slice(0, lines.indexOf('')).map((header) => header.split(':')[0]?.toLowerCase())
    expect(names.toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ])
    expect(Buffer.from(lines.at(-1) ?? '', 'latin1').toString()).toBe('{"a": "ü"}')
  })

  test('S12: a redirect is refused, and the key goes to no other address', async () => {
    const elsewhere = saying(head(200, { 'content-length': '2' }).concat('{}'))
    for (const status of [301, 302, 307, 308]) {
      const upstream = saying(head(status, { location: `${elsewhere.url}/steal`, 'content-length': '0' }))
      const answer = await callUpstream(callOf(upstream.url))
      expect(answer).toMatchObject({ kind: 'failed', failure: { kind: 'unreachable' } })
      expect(JSON.stringify(answer)).not.toContain(elsewhere.url)
    }
    expect(elsewhere.opened()).toBe(0)
  })
})

describe('the answer of a provider', () => {
  test('an answer is read as it arrives, and its end is recorded', async () => {
    const answer = await answerTo(head(200, EVENTS) + chunk('data: 1\n\n') + chunk('data: 2\n\n') + LAST_CHUNK)
    let text = ''
    for (let next = await answer.read(); next.kind === 'bytes'; next = await answer.read()) text += textOf(next.bytes)
    expect(text).toBe('data: 1\n\ndata: 2\n\n')
    expect(await answer.read()).toEqual({ kind: 'done' })
    expect(await answer.readAll(10)).toEqual({ kind: 'body', bytes: Buffer.alloc(0) })
  })

  test.each([
    ['text/event-stream', true],
    ['text/event-stream; charset=utf-8', true],
    ['application/json', false],
    ['', false],
  ])('the content type %p is an event stream: %p', async (type, expected) => {
    const answer = await answerTo(head(200, { 'content-type': type, 'content-length': '0' }))
    expect(answer.isEventStream).toBe(expected)
  })

  test('an answer without a body is empty', async () => {
    const answer = await answerTo('HTTP/1.1 204 No Content\r\n\r\n')
    expect(await answer.read()).toEqual({ kind: 'done' })
  })

  test.each([
    ['in pieces', head(200) + chunk('{"half":')],
    ['whole', `${head(200, { 'content-length': '100' })}{"half":`],
  ])('an answer that breaks off while it is read %s is an error without address or text', async (way, text) => {
    const sockets: Socket<unknown>[] = []
    const upstream = provider((socket) => {
      sockets.push(socket)
      socket.write(text)
    })
    const answer = await answerOf(callOf(upstream.url))
    if (way === 'in pieces') await answer.read()
    const rest = way === 'in pieces' ? answer.read() : answer.readAll(1_000)
    sockets[0]?.end()
    expect(await rest).toMatchObject({ kind: 'failed', failure: { kind: 'broken' } })
    expect(JSON.stringify(await rest)).not.toMatch(/127\.0\.0\.1|half/)
    expect(await answer.read()).toEqual({ kind: 'done' })
  })
})

describe('a whole body', () => {
  const LIMIT = 1_000
  const BODY = 'x'.repeat(LIMIT)

  test.each([
    ['of announced length', head(200, { 'content-length': `${LIMIT}` }) + BODY],
    ['in chunks', head(200) + chunk(BODY.slice(1)) + chunk('x') + LAST_CHUNK],
  ])('a whole body %s may be as long as the limit', async (_, text) => {
    expect(await (await answerTo(text)).readAll(LIMIT)).toEqual({ kind: 'body', bytes: Buffer.from(BODY) })
  })

  test.each([
    ['of announced length', `${head(200, { 'content-length': `${LIMIT + 1}` })}${BODY}x`],
    ['in chunks', head(200) + chunk(BODY) + chunk('x') + LAST_CHUNK],
    ['without end', head(200) + chunk(BODY) + chunk('x')],
  ])('a whole body %s that is longer than the limit is malformed, and the call is cancelled', async (_, text) => {
    const upstream = saying(text)
    const answer = await answerOf(callOf(upstream.url))
    const detail = `answer over ${LIMIT} bytes`
    expect(await answer.readAll(LIMIT)).toEqual({ kind: 'failed', failure: { kind: 'malformed', detail } })
    expect(await answer.read()).toEqual({ kind: 'done' })
  })

  test('a whole body larger than one read is complete', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024)
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(large) })
    const body = await (await answerOf(callOf(server.url.origin))).readAll(4 * 1024 * 1024)
    expect(body.kind === 'body' && textOf(body.bytes) === large).toBe(true)
    await server.stop(true)
  })

  test('a compressed body counts by its uncompressed size', async () => {
    const packed = Bun.gzipSync(Buffer.alloc(2_000_000))
    const headers = { 'content-encoding': 'gzip' }
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(packed, { headers }) })
    expect(packed.length).toBeLessThan(100_000)
    const tooLong = await (await answerOf(callOf(server.url.origin))).readAll(100_000)
    expect(tooLong).toMatchObject({ kind: 'failed', failure: { kind: 'malformed' } })
    const fitting = await (await answerOf(callOf(server.url.origin))).readAll(2_000_000)
    expect(fitting.kind === 'body' && fitting.bytes.length).toBe(2_000_000)
    await server.stop(true)
  })
})

describe('the end of a call', () => {
  const OPEN = head(200, EVENTS) + chunk('data: 1\n\n')

  test('a call does not begin after its client disconnected', async () => {
    const upstream = saying(OPEN)
    const answer = await callUpstream(callOf(upstream.url, { signal: AbortSignal.abort() }))
    expect(answer).toMatchObject({ kind: 'failed', failure: { kind: 'unreachable' } })
    expect(upstream.requests).toEqual([])
  })

  test('a call ends if the client disconnects before the answer', async () => {
    const client = new AbortController()
    const upstream = provider(() => client.abort())
    const answer = await callUpstream(callOf(upstream.url, { signal: client.signal }))
    expect(answer).toMatchObject({ kind: 'failed', failure: { kind: 'unreachable' } })
    await until(() => upstream.closed() === upstream.opened(), 'the connections’ end')
  })

  test('a call ends if the client disconnects during the answer', async () => {
    const client = new AbortController()
    const upstream = saying(OPEN)
    const answer = await answerOf(callOf(upstream.url, { signal: client.signal }))
    expect(await answer.read()).toMatchObject({ kind: 'bytes' })
    const next = answer.read()
    client.abort()
    expect(await next).toMatchObject({ kind: 'failed', failure: { kind: 'broken' } })
    await until(() => upstream.closed() === upstream.opened(), 'the connections’ end')
  })

  test('a call that is kept after a disconnect does not end with its client', async () => {
    const client = new AbortController()
    const upstream = provider((socket) => {
      socket.write(OPEN)
      client.signal.addEventListener('abort', () => socket.write(chunk('data: 2\n\n') + LAST_CHUNK))
    })
    const answer = await answerOf(callOf(upstream.url, { signal: client.signal }))
    await answer.read()
    answer.outliveClient()
    client.abort()
    const next = await answer.read()
    expect(next.kind === 'bytes' && textOf(next.bytes)).toBe('data: 2\n\n')
    expect(await answer.read()).toEqual({ kind: 'done' })
  })

  test('an aborted provider call stays aborted', async () => {
    const upstream = saying(OPEN)
    const answer = await answerOf(callOf(upstream.url))
    await answer.read()
    answer.abort()
    answer.abort()
    expect(await answer.read()).toEqual({ kind: 'done' })
    await until(() => upstream.closed() === upstream.opened(), 'the connections’ end')
  })

  test('a completely read call leaves its connection open for the next call', async () => {
    const upstream = saying(head(200, { 'content-length': '2' }).concat('{}'))
    for (let count = 0; count < 3; count++) await (await answerOf(callOf(upstream.url))).readAll(10)
    // The first call is accompanied by a bare connection.
    expect(upstream.opened()).toBeLessThanOrEqual(2)
    expect(upstream.requests).toHaveLength(3)
  })

  test('a call to a closed port is unreachable, without the address in the error', async () => {
    const upstream = saying('')
    upstream.stop()
    const answer = await callUpstream(callOf(upstream.url))
    expect(answer).toMatchObject({
      kind: 'failed',
      failure: { kind: 'unreachable', detail: expect.stringMatching(/^E?CONN[A-Z]*REFUSED$/i) },
    })
  })
})
