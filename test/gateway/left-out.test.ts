/** What a translation leaves out is written down, by feature and without the caller's values. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { FORMATS, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

test('what the target’s format cannot say is left out, and the log names the features without the caller’s values', async () => {
  const model = world.modelWith('messages', () => soundAnswer('messages', false))
  const { response } = await world.ask({
    format: 'chat-completions',
    model,
    body: { seed: 424_242, frequency_penalty: 1 },
  })
  expect(response.status).toBe(200)
  const line = world.gateway.logLines.findLast((text) => text.includes('"event":"request_features_left_out"'))
  expect(line).toContain('seed')
  expect(line).not.toContain('424242')
})

test.each([...FORMATS])('what no list of %s knows is left out, and the answer and the log say so', async (format) => {
  let received: unknown
  const model = world.modelWith(format, ({ body }) => {
    received = body
    return soundAnswer(format, false)
  })
  const { response } = await world.ask({ format, model, body: { x_unheard_of: 'secret words', 'new\nline': 1 } })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-svc-left-out')).toMatch(/^(x_unheard_of|xUnheardOf), new\?line$/)
  expect(JSON.stringify(received)).not.toContain('secret words')
  const line = world.gateway.logLines.findLast((text) => text.includes('"event":"request_fields_left_out"'))
  expect(line).toMatch(/x_?[uU]nheard/)
  expect(line).not.toContain('secret words')
})

test.each([...FORMATS])(
  'a conversation kept elsewhere is refused towards %s in words that tool runners know',
  async (format) => {
    const model = world.modelWith(format, () => soundAnswer(format, false))
    const thread = { type: 'continue', previous_message_id: 'msg_1' }
    const { response, text } = await world.ask({ format: 'messages', model, body: { thread } })
    expect(response.status).toBe(400)
    expect(JSON.parse(text).error).toMatchObject({
      type: 'invalid_request_error',
      details: { error_code: 'thread_unsupported_request', param: 'thread' },
    })
  },
)

test('the operator may have fields of a provider passed on by name', async () => {
  const { modelWith, ask, gateway } = await startScriptedModels({ passFields: ['thread', 'x_unheard_of'] })
  let received: unknown
  const model = modelWith('messages', ({ body }) => {
    received = body
    return soundAnswer('messages', false)
  })
  const fields = { thread: { type: 'create' }, x_unheard_of: 1 }
  const { response } = await ask({ format: 'messages', model, body: { ...fields, x_other: 2 } })
  await gateway.stop()
  expect(response.headers.get('x-svc-left-out')).toBe('x_other')
  expect(received).toMatchObject(fields)
  expect(received).not.toHaveProperty('x_other')
})
