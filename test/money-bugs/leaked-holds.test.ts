/** Bug 3 of similar products: holds that an exit path forgets add up until an unspent budget counts as exceeded. */

import { afterAll, beforeAll, test } from 'bun:test'
import { type ScriptedModels, silence, soundAnswer, startScriptedModels, status } from '@test/gateway/scripted-models'
import { leavesAfter } from '@test/support/delays'
import { until } from '@test/support/until'
import { chatChunk, eventStream } from '@test/support/upstream'
import { nano } from '@/lib/money'
import { chat, spentAtRest } from './support'

let world: ScriptedModels

beforeAll(async () => {
  // Short limits: silence is one of the endings, and whatever a busy machine adds to the others has to end well too.
  world = await startScriptedModels({
    timeouts: { connectMs: 150, firstByteMs: 150, idleMs: 300, totalMs: 5_000 },
  })
})
afterAll(() => world.gateway.stop())

/** Requests of every kind that ends badly; each takes its hold and has to give it back. */
const ENDINGS: Record<string, (key: string, model: string) => Promise<unknown>> = {
  'a body that is no JSON': (key) => raw(key, '{"model":'),
  'an unknown model': (key) => chat(url(), key, { model: 'svc/unheard-of' }),
  'a limit that is no number': (key) => chat(url(), key, { max_tokens: 'many' }),
  'more answers than can be priced': (key) => chat(url(), key, { n: 1e15 }),
  'a client that leaves at once': (key, model) => leave(key, model, 0),
  'a client that leaves while the provider thinks': (key, model) => leave(key, model, 40),
  'any answer of the provider': async (key, model) => (await chat(url(), key, { model })).text(),
  'any stream of the provider': async (key, model) => (await chat(url(), key, { model, stream: true })).text(),
}

test('after every kind of failure no hold is open, and the whole budget is available', async () => {
  const { gateway } = world
  // A budget for one request at a time: a single leak, and the next one is refused.
  const budget = nano(1_500_000)
  const { accountId, keyId, key } = await gateway.customer('5', { monthlyBudget: budget, concurrency: 1 })
  const providers = [
    status(500),
    status(429),
    status(401),
    () => new Response('<html>'),
    () => eventStream(),
    () => eventStream(chatChunk({ role: 'assistant', content: '' })),
    () => eventStream({ error: { message: 'broken' } }),
    silence,
  ]
  for (const provider of providers) {
    const model = world.modelWith('chat-completions', provider)
    for (const [name, send] of Object.entries(ENDINGS)) {
      await send(key, model)
      const isWhole = async () => {
        const state = await gateway.gateway.deps.ledger.readKey({ accountId, keyId })
        return state?.open === 0 && state.held === 0
      }
      await until(isWhole, `nothing to be open after ${name}`)
    }
  }
  await spentAtRest(gateway, accountId)
  const sound = world.modelWith('chat-completions', () => soundAnswer('chat-completions', false))
  // A busy machine may be slower than the short limits: what has leaked would refuse every one.
  const isServed = async () => {
    const response = await chat(url(), key, { model: sound })
    await response.text()
    return response.status === 200
  }
  await until(isServed, 'a sound request to be served')
})

function url(): string {
  return world.gateway.url
}

function raw(key: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${url()}/v1/chat/completions`, { method: 'POST', headers, body })
}

async function leave(key: string, model: string, afterMs: number): Promise<void> {
  const signal = leavesAfter(afterMs)
  await chat(url(), key, { model, stream: true }, signal)
    .then((response) => response.text())
    .catch(() => undefined)
}
