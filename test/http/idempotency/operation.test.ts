/** A request with an idempotency key continues without its client; a repetition gets its answer. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, type LiveStream, liveStream, usageOf } from '@test/support/upstream'
import { codeOf, FORMATS, send, settledBalance } from './repeated'

const COST = 10 * 1_000 + 5 * 2_000

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Response(null, { status: 599 }),
    catalog(file) {
      // Whatever a provider's policy: an answer that can still be asked for is read.
      Object.assign(file.providers.provider1 ?? {}, { onDisconnect: { policy: 'abort' } })
    },
  })
})
afterAll(() => gateway.stop())

const EVENTS = chatStream(['one ', 'two ', 'three'], usageOf(10, 5)).map(
  (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
)

function tell(live: LiveStream, from: number, to?: number): void {
  for (const event of EVENTS.slice(from, to)) live.write(event)
}

/** Reads what has come of an answer, and hangs up. */
async function readAndLeave(answer: Response, controller: AbortController, words: string): Promise<string> {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  let seen = ''
  while (!seen.includes(words)) seen += new TextDecoder().decode((await reader.read()).value)
  controller.abort()
  return seen
}

test.each(FORMATS)('%s: a stream whose client disconnected is replayed from its first byte', async (format) => {
  const customer = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  const wish = { key: customer.key, idempotencyKey: 'left', stream: true, format }
  const controller = new AbortController()
  tell(live, 0, 2)
  const seen = await readAndLeave(await send(gateway, { ...wish, signal: controller.signal }), controller, 'one ')
  const early = await send(gateway, wish)
  expect([early.status, await codeOf(early)]).toEqual([409, 'idempotency_key_in_use'])
  tell(live, 2)
  live.close()
  const again = await until(async () => {
    const response = await send(gateway, wish)
    return response.status === 200 && response
  }, 'the answer')
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  const text = await again.text()
  expect(text).toStartWith(seen)
  expect(text).toContain('three')
  expect(gateway.upstream.calls.at(-1)?.isAborted).toBe(false)
  expect(await settledBalance(gateway, customer)).toEqual({ spent: COST, records: 1 })
})

test.each([false, true])('an answer that begins after its client disconnected is stored; stream %p', async (stream) => {
  const customer = await gateway.customer('1')
  const release = Promise.withResolvers<void>()
  gateway.upstream.calls.length = 0
  gateway.upstream.respond(async () => {
    await release.promise
    if (!stream) return Response.json(chatCompletion('Late', usageOf(10, 5)))
    const live = liveStream()
    tell(live, 0)
    live.close()
    return live.response
  })
  const wish = { key: customer.key, idempotencyKey: 'unbegun', stream }
  const controller = new AbortController()
  const asked = send(gateway, { ...wish, signal: controller.signal })
  asked.catch(() => undefined)
  await until(() => gateway.upstream.calls.length === 1, 'the upstream call')
  controller.abort()
  await asked.catch(() => undefined)
  release.resolve()
  const again = await until(async () => {
    const response = await send(gateway, wish)
    return response.status === 200 && response
  }, 'the answer')
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(gateway.upstream.calls).toHaveLength(1)
  expect(await settledBalance(gateway, customer)).toEqual({ spent: COST, records: 1 })
})

test('a request that does not finish in time is charged like a disconnect, and its answer is lost', async () => {
  const { idempotency } = gateway.gateway.deps
  if (!idempotency) throw new Error('keys are offered')
  const patience = idempotency.finishUnseenMs
  idempotency.finishUnseenMs = 100
  const customer = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  const wish = { key: customer.key, idempotencyKey: 'unfinished', stream: true }
  const controller = new AbortController()
  tell(live, 0, 2)
  await readAndLeave(await send(gateway, { ...wish, signal: controller.signal }), controller, 'one ')
  await until(() => gateway.upstream.calls.at(-1)?.isAborted, 'the upstream to be stopped')
  idempotency.finishUnseenMs = patience
  const { spent } = await settledBalance(gateway, customer)
  expect(spent).toBeGreaterThan(0)
  const lost = await until(async () => {
    const code = await codeOf(await send(gateway, wish))
    return code !== 'idempotency_key_in_use' && code
  }, 'the claim to end')
  expect(lost).toBe('idempotency_answer_lost')
})

test('a stream that began with keep-alives and fails without charge releases its idempotency key', async () => {
  const customer = await gateway.customer('1')
  const { deps } = gateway.gateway
  const patience = deps.lateAfterMs
  deps.lateAfterMs = 100
  const begun = Promise.withResolvers<void>()
  gateway.upstream.respond(async () => {
    await begun.promise
    return Response.json({ error: { message: 'no' } }, { status: 400 })
  })
  const wish = { key: customer.key, idempotencyKey: 'late', stream: true }
  const failed = await send(gateway, wish)
  deps.lateAfterMs = patience
  begun.resolve()
  expect([failed.status, (await failed.text()).includes('"error"')]).toEqual([200, true])
  gateway.upstream.respond(() => eventStream(...chatStream(['At last'], usageOf(10, 5))))
  const answer = await send(gateway, wish)
  expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null])
  expect(await answer.text()).toContain('At last')
  expect(await settledBalance(gateway, customer)).toEqual({ spent: COST, records: 1 })
})

test('a slow client gets the end of an answer only once the answer is stored, so that it can be repeated at once', async () => {
  const customer = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  const wish = { key: customer.key, idempotencyKey: 'slow', stream: true }
  tell(live, 0)
  live.close()
  const answer = await send(gateway, wish)
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  let seen = ''
  while (!seen.includes('[DONE]')) seen += new TextDecoder().decode((await reader.read()).value)
  expect((await send(gateway, wish)).headers.get('idempotent-replayed')).toBe('true')
})
