/** Clients that disconnect at five moments: the provider call ends, and the used part is charged, never nothing, never the whole hold. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, type LiveStream, liveStream, usageChunk, usageOf } from '@test/support/upstream'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Promise(() => {}),
    catalog(file) {
      // An answer in one piece is read on for this long.
      Object.assign(file.providers.provider1 ?? {}, { onDisconnect: { policy: 'auto', maxSeconds: 1 } })
    },
  })
})
afterAll(() => gateway.stop())

const data = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`
const ROLE = data(chatChunk({ role: 'assistant', content: '' }))
const WORD = data(chatChunk({ content: 'word ' }))
const FINISH = data(chatChunk({}, 'stop'))
const USAGE = data(usageChunk(usageOf(40, 9)))

type Moment = {
  name: string
  stream: boolean
  script(live: LiveStream): void
  waitFor: string | undefined
  cost: 'exact' | 'counted' | 'nothing'
}

const MOMENTS: Moment[] = [
  {
    name: 'before the provider answers a complete request',
    stream: false,
    script: () => {},
    waitFor: undefined,
    cost: 'nothing',
  },
  {
    name: 'before the first byte of a stream',
    stream: true,
    script: () => {},
    waitFor: undefined,
    cost: 'nothing',
  },
  {
    name: 'after the first content',
    stream: true,
    script: (live) => live.write(ROLE + WORD),
    waitFor: 'word',
    cost: 'counted',
  },
  {
    name: 'just before the usage',
    stream: true,
    script: (live) => live.write(ROLE + WORD + WORD + FINISH),
    waitFor: '"finish_reason":"stop"',
    cost: 'counted',
  },
  {
    name: 'after the usage, before [DONE]',
    stream: true,
    script: (live) => live.write(ROLE + WORD + FINISH + USAGE),
    waitFor: '"usage":{',
    cost: 'exact',
  },
]

test.each(MOMENTS)('the charge for a client that disconnects $name', async ({ stream, script, waitFor, cost }) => {
  const customer = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.calls.length = 0
  gateway.upstream.respond(() => (stream ? live.response : new Promise<Response>(() => {})))
  if (stream) script(live)
  const controller = new AbortController()
  const answer = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'svc/alpha',
      messages: [{ role: 'user', content: 'Write a very long story about a gateway' }],
      stream,
      stream_options: stream ? { include_usage: true } : undefined,
    }),
    signal: controller.signal,
  })
  answer.catch(() => undefined)
  await until(() => gateway.upstream.calls.length === 1, 'the upstream call')
  if (waitFor !== undefined) await readUntil(await answer, waitFor)
  controller.abort()
  await until(() => gateway.upstream.calls[0]?.isAborted, 'the upstream to be stopped')
  const balance = await until(async () => {
    const now = await gateway.balance(customer.accountId)
    return now.held === 0 && now
  }, 'the hold to end')
  if (cost === 'nothing') return expect(balance.spent as number).toBe(0)
  expect(balance.spent).toBeGreaterThan(0)
  if (cost === 'exact') expect(balance.spent as number).toBe(40 * 1_000 + 9 * 2_000)
  else expect(balance.spent).toBeLessThan(100_000)
})

async function readUntil(response: Response, text: string): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  for (let seen = ''; !seen.includes(text); ) seen += new TextDecoder().decode((await reader.read()).value)
}
