/** An answer that flows through a pipe: no byte is lost whoever disconnects, and only a waiting read counts silence. */
import { afterEach, expect, test } from 'bun:test'
import { spend } from '@test/support/delays'
import { until } from '@test/support/until'
import type { PipeEnd } from '@/lib/streams/pipe'
import type { UpstreamAnswer } from '@/upstream/answer'
import { callUpstream } from '@/upstream/client'
import type { UpstreamFailure } from '@/upstream/failure'
import { callOf, chunk, head, LAST_CHUNK, type RawProvider, startRawProvider } from './raw-provider'

const EVENTS = head(200, { 'content-type': 'text/event-stream' })
const FAR_MS = 120_000
const IDLE_MS = 2_500
/** What a reader takes between two reads. */
const READER_MS = 50

const running: RawProvider[] = []
afterEach(() => {
  for (const provider of running.splice(0)) provider.stop()
})

function startedProvider(respond: Parameters<typeof startRawProvider>[0]): RawProvider {
  const provider = startRawProvider(respond)
  running.push(provider)
  return provider
}

async function answerOf(url: string, idleMs = FAR_MS): Promise<UpstreamAnswer> {
  const timeouts = { connectMs: FAR_MS, firstByteMs: FAR_MS, totalMs: FAR_MS, idleMs }
  const answer = await callUpstream(callOf(url, { provider: { timeouts } }))
  if (answer.kind === 'failed') throw new Error(`failed: ${JSON.stringify(answer.failure)}`)
  return answer
}

/** Passes everything on as it came. */
function passThrough(answer: UpstreamAnswer) {
  const seen = { bytes: 0, failures: [] as UpstreamFailure[], cancels: 0 }
  let end: PipeEnd | undefined
  const body = answer.pipeThrough({
    start(opened) {
      end = opened
      return undefined
    },
    transform(bytes) {
      seen.bytes += bytes.length
      end?.send(bytes)
      return undefined
    },
    flush(failure) {
      if (failure) seen.failures.push(failure)
      return undefined
    },
    cancel() {
      seen.cancels++
    },
  })
  return { body, seen, end: () => end?.end() }
}

async function restOf(answer: UpstreamAnswer): Promise<number> {
  let bytes = 0
  for (let next = await answer.read(); next.kind === 'bytes'; next = await answer.read()) bytes += next.bytes.length
  return bytes
}

const PIECE_BYTES = 64 * 1024
const PIECES = 200

/** A provider with more to say than any socket holds; it goes on as it is read. */
function talkative(): { url: string; stop(): void } {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch() {
      let sent = 0
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (sent++ < PIECES) controller.enqueue(new Uint8Array(PIECE_BYTES))
          else controller.close()
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  return { url: server.url.origin, stop: () => void server.stop(true) }
}

test.each([0, 1, 7])('reading the rest of a body after %d reads continues at that byte', async (reads) => {
  const provider = talkative()
  try {
    const answer = await answerOf(provider.url)
    const { body, seen } = passThrough(answer)
    const reader = body.getReader()
    for (let count = 0; count < reads; count++) await reader.read()
    // Time for one to be read ahead, which then waits for its turn.
    await spend(READER_MS)
    await reader.cancel()
    expect(seen.bytes + (await restOf(answer))).toBe(PIECES * PIECE_BYTES)
    expect(seen.cancels).toBe(1)
  } finally {
    provider.stop()
  }
})

test('the rest of a body can also be read after its pipe was ended early', async () => {
  const provider = talkative()
  try {
    const answer = await answerOf(provider.url)
    const { body, seen, end } = passThrough(answer)
    const reader = body.getReader()
    await reader.read()
    end()
    while (!(await reader.read()).done);
    expect(seen.bytes + (await restOf(answer))).toBe(PIECES * PIECE_BYTES)
  } finally {
    provider.stop()
  }
})

test('silence counts as the provider’s fault while a read waits', async () => {
  const answer = await answerOf(startedProvider((socket) => void socket.write(EVENTS + chunk('1'))).url, IDLE_MS)
  expect(await answer.read()).toMatchObject({ kind: 'bytes' })
  const { body, seen } = passThrough(answer)
  await until(() => seen.failures.length > 0, 'the limit')
  expect(seen.failures).toEqual([{ kind: 'timeout', phase: 'idle' }])
  expect(await new Response(body).text()).toBe('')
})

test('a slow client does not count as silence of the provider', async () => {
  let finish: (() => void) | undefined
  const provider = startedProvider((socket) => {
    socket.write(EVENTS + chunk('1'))
    finish = () => void socket.write(LAST_CHUNK)
  })
  const answer = await answerOf(provider.url, IDLE_MS)
  const { body, seen } = passThrough(answer)
  await until(() => answer.hasSent(), 'the first to be read')
  await spend(2 * IDLE_MS)
  expect([seen.bytes, seen.failures]).toEqual([0, []])
  finish?.()
  expect(await new Response(body).text()).toBe('1')
  expect(seen.failures).toEqual([])
})

test('if a body breaks off, the error comes after the bytes that arrived', async () => {
  let breakOff: (() => void) | undefined
  const provider = startedProvider((socket) => {
    socket.write(EVENTS + chunk('1'))
    breakOff = () => socket.end()
  })
  const answer = await answerOf(provider.url)
  const { body, seen } = passThrough(answer)
  await until(() => answer.hasSent(), 'the first to be read')
  breakOff?.()
  expect(await new Response(body).text()).toBe('1')
  expect(seen.failures).toMatchObject([{ kind: 'broken' }])
})

test('a completely read call has no remaining bytes', async () => {
  const answer = await answerOf(startedProvider((socket) => void socket.write(EVENTS + chunk('1') + LAST_CHUNK)).url)
  const { body } = passThrough(answer)
  expect(await new Response(body).text()).toBe('1')
  expect(await answer.read()).toEqual({ kind: 'done' })
})
