/** Streams whose first content takes longer than a proxy's patience: kept alive from outside, and still open for any target. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '@test/support/until'
import type { UpstreamCall } from '@test/support/upstream'
import { LATE_AFTER_MS } from '@/gateway/relay/late-stream'
import {
  FORMATS,
  type Script,
  type ScriptedModels,
  silence,
  soundAnswer,
  startScriptedModels,
  status,
} from './scripted-models'

setDefaultTimeout(60_000)

const SLOW_MS = LATE_AFTER_MS + 1_000
const TIMEOUTS = { connectMs: 2_000, firstByteMs: 40_000, idleMs: 40_000, totalMs: 60_000 }

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels({ timeouts: TIMEOUTS })
})
afterAll(() => world.gateway.stop())

const slowly =
  (script: Script): Script =>
  async (call) => {
    await Bun.sleep(SLOW_MS)
    return script(call)
  }

const spent = async () => (await world.gateway.balance(world.customer.accountId)).spent

const ALIVE: Record<(typeof FORMATS)[number], RegExp> = {
  'chat-completions': /^: keepalive\n\n/,
  messages: /^event: ping\n/,
  'generate-content': /^\r\n\r\n/,
  responses: /^: keep-?alive\n\n/,
}

/** All at once: each takes its ten seconds. */
test('the client hears from us, then gets the answer, or the error in its own words; both are settled', async () => {
  const before = await spent()
  const sound = FORMATS.map((format) => {
    const model = world.modelWith(
      format,
      slowly(() => soundAnswer(format, true)),
    )
    return world.ask({ format, model, stream: true })
  })
  const failing = FORMATS.map((format) => {
    const model = world.modelWith(format, slowly(status(400)))
    return world.ask({ format, model, stream: true })
  })
  const fallingBack = FORMATS.map((format) => {
    const model = world.modelWith('chat-completions', slowly(status(404)))
    const fallback = [world.modelWith(format, () => soundAnswer(format, true))]
    return world.ask({ format, model, fallback, stream: true })
  })
  for (const [index, { response, text }] of (await Promise.all([...sound, ...fallingBack])).entries()) {
    expect(response.status).toBe(200)
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    expect(response.headers.get('x-svc-model')).toBeNull()
    const [alive] = text.split(/data: \{"(?:id|type": ?"(?:message|response)|candidates)/)
    expect(alive).toMatch(ALIVE[FORMATS[index % FORMATS.length] as (typeof FORMATS)[number]])
    expect(text).toContain('So')
  }
  for (const { response, text } of await Promise.all(failing)) {
    expect(response.status).toBe(200)
    expect(text).toMatch(/scripted failure/)
    expect(text).not.toMatch(/\[DONE\]|message_stop|"finishReason"/)
  }
  await until(async () => (await world.gateway.balance(world.customer.accountId)).held === 0, 'all holds to end')
  expect(Number(await spent()) - Number(before)).toBeGreaterThan(0)
})

test('a client that leaves meanwhile ends the call, and pays nothing for silence', async () => {
  const calls: UpstreamCall[] = []
  const model = world.modelWith('chat-completions', (call) => {
    calls.push(call)
    return silence(call)
  })
  const before = await spent()
  const client = new AbortController()
  const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], stream: true }),
    signal: client.signal,
  })
  expect(response.status).toBe(200)
  client.abort()
  await until(() => calls[0]?.isAborted, 'the call to be ended')
  await until(async () => (await world.gateway.balance(world.customer.accountId)).held === 0, 'the hold to end')
  expect(await spent()).toBe(before)
})
