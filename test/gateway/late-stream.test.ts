/** Streams whose first content takes longer than proxies wait: the client gets keep-alives, and any target can still answer. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import type { UpstreamCall } from '@test/support/upstream'
import {
  FORMATS,
  type FormatName,
  type Script,
  type ScriptedModels,
  silence,
  soundAnswer,
  startScriptedModels,
  status,
} from './scripted-models'

const LATE_AFTER_MS = 100
const TIMEOUTS = { connectMs: 2_000, firstByteMs: 40_000, idleMs: 40_000, totalMs: 60_000 }

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels({ timeouts: TIMEOUTS })
  world.gateway.gateway.deps.lateAfterMs = LATE_AFTER_MS
})
afterAll(() => world.gateway.stop())

/** A question to a model that is silent until its client has heard from us. */
function askLate(format: FormatName, provider: FormatName, script: Script, fallback: string[] = []) {
  const heard = Promise.withResolvers<void>()
  const model = world.modelWith(provider, async (call) => {
    await heard.promise
    return script(call)
  })
  return world.ask({ format, model, fallback, stream: true, onText: () => heard.resolve() })
}

const spent = async () => (await world.gateway.balance(world.customer.accountId)).spent

const ALIVE: Record<FormatName, RegExp> = {
  'chat-completions': /^: keepalive\n\n/,
  messages: /^event: ping\n/,
  'generate-content': /^\r\n\r\n/,
  responses: /^: keep-?alive\n\n/,
}

test('a client of a slow stream gets keep-alives, then an answer or an error in its format; both are settled', async () => {
  const before = await spent()
  const sound = FORMATS.map((format) => askLate(format, format, () => soundAnswer(format, true)))
  const failing = FORMATS.map((format) => askLate(format, format, status(400)))
  const fallingBack = FORMATS.map((format) => {
    const fallback = [world.modelWith(format, () => soundAnswer(format, true))]
    return askLate(format, 'chat-completions', status(404), fallback)
  })
  for (const [index, { response, text }] of (await Promise.all([...sound, ...fallingBack])).entries()) {
    expect(response.status).toBe(200)
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    expect(response.headers.get('x-svc-model')).toBeNull()
    const [alive] = text.split(/data: \{"(?:id|type": ?"(?:message|response)|candidates)/)
    expect(alive).toMatch(ALIVE[FORMATS[index % FORMATS.length] as FormatName])
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

test('a client that disconnects while waiting ends the call and pays nothing', async () => {
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
  // One that leaves before is known to have left when the provider would be asked.
  await until(() => calls.length === 1, 'the provider to be asked')
  client.abort()
  await until(() => calls[0]?.isAborted, 'the call to be ended')
  await until(async () => (await world.gateway.balance(world.customer.accountId)).held === 0, 'the hold to end')
  expect(await spent()).toBe(before)
})
