/** Conversations with a tier through a whole gateway: with and without a name, and the reasons in header and record. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

test('a tier keeps the model of an unnamed conversation, but not for another conversation of the user', async () => {
  world.script(() => soundAnswer('chat-completions', false))
  const reasonOf = async (...said: string[]) => {
    const turns = said.flatMap((content) => [
      { role: 'user', content },
      { role: 'assistant', content: 'Very well.' },
    ])
    const body = { messages: turns.slice(0, -1), user: 'application' }
    const { response } = await world.ask({ format: 'chat-completions', model: 'auto-smart', body })
    return response.headers.get('x-svc-route-reason')
  }
  expect(await reasonOf('Good morning')).toStartWith('chosen; smart')
  expect(await reasonOf('Good morning', 'How are you?')).toStartWith('session; auto-smart')
  expect(await reasonOf('Good morning', 'How are you?', 'Thanks')).toStartWith('session; auto-smart')
  expect(await reasonOf('Good evening', 'How are you?')).toStartWith('chosen; smart')
  expect(await reasonOf('Good morning')).toStartWith('chosen; smart')
})

test('a tier states why it chose the model, and keeps the model of a named conversation', async () => {
  world.script(() => soundAnswer('chat-completions', false))
  const question = { format: 'chat-completions' as const, model: 'auto-smart', headers: { 'x-svc-session': 'one' } }
  const first = await world.ask(question)
  expect(first.response.headers.get('x-svc-route-reason')).toStartWith('chosen; smart, easy chat')
  const second = await world.ask(question)
  expect(second.response.headers.get('x-svc-route-reason')).toStartWith('session; auto-smart')
  for (const { headers } of [first.response, second.response]) {
    const { sql } = world.gateway.gateway.database
    const [record] = await until(async () => {
      const rows = await sql`SELECT route_reason FROM usage_records WHERE request_id = ${headers.get('x-request-id')}`
      return rows.length > 0 && rows
    }, 'the usage record')
    expect(record?.route_reason).toBe(headers.get('x-svc-route-reason'))
  }
})
