/** Reading on after a disconnect: the client is charged exactly the provider's final usage, within bounds. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, type LiveStream, liveStream, usageChunk, usageOf } from '@test/support/upstream'

/** Nothing else ends a call before the test's own limit. */
const FAR_MS = 900_000
const TIMEOUTS = { connectMs: 10_000, firstByteMs: FAR_MS, idleMs: FAR_MS, totalMs: FAR_MS }
const policy = (maxSeconds: number) => ({
  timeouts: TIMEOUTS,
  onDisconnect: { policy: 'drain', maxSeconds, maxConcurrent: 1 },
})
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Promise(() => {}),
    catalog(file) {
      Object.assign(file.providers.provider1 ?? {}, policy(1))
      file.providers.patient = { ...file.providers.provider1, ...policy(3600) }
      file.models.push({ ...file.models[0], id: 'svc/patient', targets: [{ provider: 'patient', model: 'x' }] })
    },
  })
})
afterAll(() => gateway.stop())

const data = (event: unknown) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`

test('after a disconnect the stream is read to its end, and its final usage is charged', async () => {
  const { accountId, live } = await leaveAfterFirstWord('svc/patient')
  for (let count = 0; count < 20; count++) live.write(data(chatChunk({ content: 'more ' })))
  live.write(data(chatChunk({}, 'stop')) + data(usageChunk(usageOf(40, 21))) + data('[DONE]'))
  live.close()
  expect(await spentWhenSettled(accountId)).toBe(40 * 1_000 + 21 * 2_000)
  expect(gateway.upstream.calls.at(-1)?.isAborted).toBe(false)
})

test('a provider that does not end in time is cancelled, and its output until then is charged', async () => {
  const { accountId, live } = await leaveAfterFirstWord('svc/alpha')
  live.write(data(chatChunk({ content: 'more ' })))
  await until(() => gateway.upstream.calls.at(-1)?.isAborted, 'the provider to be stopped')
  expect(await spentWhenSettled(accountId)).toBeGreaterThan(4_000)
})

test('if all drain slots are taken, a disconnect cancels the call', async () => {
  const first = await leaveAfterFirstWord('svc/patient')
  const second = await leaveAfterFirstWord('svc/patient')
  await until(() => gateway.upstream.calls.at(-1)?.isAborted, 'the second to be stopped')
  expect(gateway.upstream.calls.at(-2)?.isAborted).toBe(false)
  first.live.close()
  for (const { accountId } of [first, second]) expect(await spentWhenSettled(accountId)).toBeGreaterThan(0)
})

async function leaveAfterFirstWord(model: string): Promise<{ accountId: string; live: LiveStream }> {
  const { accountId, key } = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  live.write(data(chatChunk({ role: 'assistant', content: 'first ' })))
  const controller = new AbortController()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Tell me' }] }),
    signal: controller.signal,
  })
  await response.body?.getReader().read()
  controller.abort()
  return { accountId, live }
}

async function spentWhenSettled(accountId: string): Promise<number> {
  const balance = await until(async () => {
    const now = await gateway.balance(accountId)
    return now.held === 0 && now
  }, 'the hold to end')
  return balance.spent
}
