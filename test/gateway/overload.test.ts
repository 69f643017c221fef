/** A provider's limit on concurrent calls, and high load with one dead and one slow provider, through a whole gateway. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spend } from '@test/support/delays'
import { until } from '@test/support/until'
import { type ScriptedModels, soundAnswer, startScriptedModels, status } from './scripted-models'

const REQUESTS = 240
const AT_ONCE = 12
const SLOW_MS = 60

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels({ maxConcurrency: 4 })
})
afterAll(() => world.gateway.stop())

test('a request beyond slots and queue is refused with retry-after, and reserves nothing', async () => {
  const gate = Promise.withResolvers<void>()
  let inFlight = 0
  const model = world.modelWith('chat-completions', async () => {
    inFlight++
    await gate.promise
    return soundAnswer('chat-completions', false)
  })
  const ask = () => world.ask({ format: 'chat-completions', model })
  const admitted = Array.from({ length: 8 }, ask)
  await until(() => inFlight === 4 && queued(model) === 4, 'full slots and a full queue')
  const refused = await Promise.all(Array.from({ length: 10 }, ask))
  for (const { response } of refused) {
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  expect(inFlight).toBe(4)
  gate.resolve()
  const statuses = (await Promise.all(admitted)).map(({ response }) => response.status)
  // Nobody waits for a slot for more than two seconds, which a busy machine may need for the ten.
  for (const status of statuses) expect([200, 503]).toContain(status)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4)
  expect(await world.gateway.balance(world.customer.accountId)).toMatchObject({ held: 0 })
  expect(queued(model)).toBe(0)
})

test('a busy provider is skipped if another can answer', async () => {
  const gate = Promise.withResolvers<void>()
  const busy = world.modelWith('chat-completions', async () => {
    await gate.promise
    return soundAnswer('chat-completions', false)
  })
  const free = world.modelWith('chat-completions', () => soundAnswer('chat-completions', false))
  const holders = Array.from({ length: 4 }, () => world.ask({ format: 'chat-completions', model: busy }))
  await until(() => inFlightAt(busy) === 4, 'full slots')
  const { response } = await world.ask({ format: 'chat-completions', model: busy, fallback: [free] })
  expect(response.headers.get('x-svc-model')).toBe(free)
  gate.resolve()
  await Promise.all(holders)
})

test('an account with many requests leaves some slots to another account, which is answered at once', async () => {
  const wide = await startScriptedModels({ maxConcurrency: 10 })
  const gate = Promise.withResolvers<void>()
  const model = wide.modelWith('chat-completions', async ({ text }) => {
    if (!text.includes('at once')) await gate.promise
    return soundAnswer('chat-completions', false)
  })
  const lane = () => wide.gateway.gateway.deps.router.status().providers.find(({ limit }) => limit === 10)
  const greedy = Array.from({ length: 12 }, () => wide.ask({ format: 'chat-completions', model }))
  await until(() => lane()?.inFlight === 8 && lane()?.queued === 4, 'all that one account gets')
  const { key } = await wide.gateway.customer('1')
  const { response } = await wide.ask({
    ...{ format: 'chat-completions', model, headers: { authorization: `Bearer ${key}` } },
    body: { messages: [{ role: 'user', content: 'at once' }] },
  })
  expect(response.status).toBe(200)
  gate.resolve()
  for (const { response: late } of await Promise.all(greedy)) expect([200, 503]).toContain(late.status)
  await wide.gateway.stop()
})

test('an answer frees its slot, however it ends', async () => {
  const scripts = [
    () => soundAnswer('chat-completions', true),
    () => new Response('data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n', { headers: EVENT_STREAM }),
    status(400),
    status(500),
  ]
  for (const script of scripts) {
    const model = world.modelWith('chat-completions', script)
    for (let index = 0; index < 6; index++) await world.ask({ format: 'chat-completions', model, stream: true })
    await until(() => inFlightAt(model) === 0, `free slots at ${model}`)
  }
})

test('with one provider dead and one slow, every request is answered with few extra attempts', async () => {
  let deadCalls = 0
  const dead = world.modelWith('chat-completions', () => {
    deadCalls++
    return status(500)(undefined as never)
  })
  const slow = world.modelWith('messages', async () => {
    await spend(SLOW_MS)
    return soundAnswer('messages', false)
  })
  const sound = world.modelWith('generate-content', () => soundAnswer('generate-content', false))
  const routes = [
    [dead, sound],
    [slow, sound],
    [sound, slow],
  ] as [string, string][]
  const answers: Response[] = []
  let next = 0
  async function client(): Promise<void> {
    while (next < REQUESTS) {
      const [model, other] = routes[next++ % routes.length] as [string, string]
      answers.push((await world.ask({ format: 'chat-completions', model, fallback: [other] })).response)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  expect(answers.filter((answer) => answer.status !== 200)).toHaveLength(0)
  // Twenty to open its circuit, what was in flight by then, and at most a few probes.
  expect(deadCalls).toBeLessThanOrEqual(20 + AT_ONCE + 5)
  const attempts = answers.reduce((sum, answer) => sum + Number(answer.headers.get('x-svc-attempts')), 0)
  expect(attempts).toBeLessThanOrEqual(REQUESTS + deadCalls + REQUESTS * 0.1)
})

const EVENT_STREAM = { 'content-type': 'text/event-stream' }

function laneOf(model: string) {
  return world.gateway.gateway.deps.router.status().providers.find((lane) => lane.provider === model.slice(4))
}

function queued(model: string): number {
  return laneOf(model)?.queued ?? 0
}

function inFlightAt(model: string): number {
  return laneOf(model)?.inFlight ?? 0
}
