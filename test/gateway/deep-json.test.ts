/** Deeply nested JSON inside texts, from callers and providers: refused, or relayed without parsing. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, type Mock, spyOn, test } from 'bun:test'
import { chatCompletion } from '@test/support/upstream'
import { FORMATS, type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

const DEPTH = 60_000
const BOTTOMLESS = `{"a":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`
const WIDE = `{"a":[${'0,'.repeat(3 * 1024 * 1024)}0]}`

let models: ScriptedModels

beforeAll(async () => {
  models = await startScriptedModels()
})

afterAll(() => models.gateway.stop())

// A second of the whole process for each such text.
let parse: Mock<typeof JSON.parse>
beforeEach(() => {
  parse = spyOn(JSON, 'parse')
})
afterEach(() => {
  const texts = parse.mock.calls.map(([text]) => text)
  parse.mockRestore()
  for (const text of [BOTTOMLESS, WIDE]) expect(texts.includes(text)).toBe(false)
})

describe.each([...FORMATS])('deep JSON sent to a provider of %s', (format) => {
  test.each([
    ['nested', BOTTOMLESS, 'nested deeper'],
    ['long', WIDE, 'exceed'],
  ])('tool arguments that are too %s are a 400 that names the field', async (_, text, words) => {
    const { response, body } = await send(format, [call(text), result('done')])
    expect([response.status, body.error.param]).toEqual([400, 'messages[1].tool_calls[0].function.arguments'])
    expect(body.error.message).toContain(words)
  })

  test('a deeply nested tool result is accepted', async () => {
    const { response } = await send(format, [call('{}'), result(BOTTOMLESS)])
    // Only this format has results as objects; for the others it is a text like any other.
    expect(response.status).toBe(format === 'generate-content' ? 400 : 200)
  })
})

test.each([...FORMATS])('deeply nested tool arguments from a provider are relayed to %s as text', async (format) => {
  const arguments_ = { id: 'call_1', type: 'function', function: { name: 'look', arguments: BOTTOMLESS } }
  const message = { role: 'assistant', content: null, tool_calls: [arguments_] }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }]
  const model = models.modelWith('chat-completions', () => Response.json({ ...chatCompletion(''), choices }))
  const { response, text } = await models.ask({ format, model })
  expect(response.status).toBe(200)
  expect(text).toContain('['.repeat(DEPTH))
})

test('a body with too many values is refused before parsing', async () => {
  const { key } = models.customer
  const response = await fetch(`${models.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: `{"model":"svc/alpha","x":[${'{},'.repeat(1_000_000)}0]}`,
  })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('more than 100000 values')
})

function call(text: string) {
  const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: text } }]
  return { role: 'assistant', content: null, tool_calls }
}

function result(content: string) {
  return { role: 'tool', tool_call_id: 'call_1', content }
}

/** Asks a provider of `format` in chat-completions, the only format that has JSON inside strings. */
async function send(format: FormatName, turns: unknown[]) {
  const model = models.modelWith(format, () => soundAnswer(format, false))
  const messages = [{ role: 'user', content: 'Hi' }, ...turns]
  const { response, text } = await models.ask({ format: 'chat-completions', model, body: { messages } })
  return { response, body: JSON.parse(text) }
}
