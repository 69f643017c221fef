/** The memory of an open stream: a long prompt is not kept while its answer streams. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, liveStream } from '@test/support/upstream'
import { FORMATS } from '@/formats/index'
import { handleChat } from '@/gateway/handle-chat'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { testLine } from './answer-parts'

const STREAMS = 8

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond() {
      const live = liveStream()
      live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'first' }))}\n\n`)
      return live.response
    },
  })
  customer = await gateway.customer('10')
})
afterAll(() => gateway.stop())

test('an open stream keeps no part of its request', async () => {
  const kept: WeakRef<object>[] = []
  const readers: ReadableStreamDefaultReader<Uint8Array>[] = []
  for (let index = 0; index < STREAMS; index++) readers.push(await openStream(kept))
  await until(() => {
    Bun.gc(true)
    // Where a stack may still hold the last one, the others are proof enough.
    return kept.filter((reference) => reference.deref()).length <= 2
  }, 'the requests to be let go')
  expect(gateway.gateway.deps.streams.count()).toBe(STREAMS)
  for (const reader of readers) await reader.cancel()
})

/** Opens one stream and notes its request and body. */
async function openStream(kept: WeakRef<object>[]): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const format = FORMATS.get('chat-completions')
  assert(format, 'there is such a format')
  const text = crypto.randomUUID().repeat(100)
  const body: JsonObject = {
    model: 'svc/alpha',
    stream: true,
    max_tokens: 9,
    messages: [{ role: 'user', content: text }],
  }
  const request = format.decodeRequest(body, {})
  kept.push(new WeakRef(request), new WeakRef(body))
  const response = await handleChat(gateway.gateway.deps, {
    requestId: `req_${crypto.randomUUID().replaceAll('-', '')}`,
    payer: { accountId: customer.accountId, keyId: customer.keyId },
    format,
    framing: format.framing,
    asked: { request, body, bodyBytes: text.length },
    wantsStream: true,
    idempotencyKey: undefined,
    signal: new AbortController().signal,
    sessionName: undefined,
    clientAddress: '192.0.2.1',
    arrivedAtMs: Date.now(),
    arrivedMonotonicMs: performance.now(),
    epilogue: undefined,
    onEnd: () => undefined,
    onSettled: undefined,
    keep: undefined,
    isPrivate: false,
    onLateFailure: () => undefined,
    line: testLine(),
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  return reader
}
