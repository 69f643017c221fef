/** Tool names that a provider's format does not allow: translated for the provider, and back for the caller, over all turns. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FORMATS, type FormatName, type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { respondWith } from '@test/matrix/provider'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const LONG = `mcp__${'a_long_server_name_'.repeat(4)}_weather`
/** What the caller calls its tools; the one that the fixtures call comes first. */
const NAMES: Record<FormatName, string[]> = {
  'chat-completions': [LONG, `${LONG}_again`, 'files.read', 'files_read', 'größe'],
  messages: [LONG, `${LONG}_again`, 'x'.repeat(200), 'now'],
  'generate-content': [`weather.${'v'.repeat(70)}`, 'weather:now', 'files.read', 'files_read'],
  responses: [LONG, `${LONG}_again`, 'files.read', 'files_read'],
}
const TAKEN: Record<FormatName, RegExp> = {
  'chat-completions': /^[A-Za-z0-9_-]{1,64}$/,
  responses: /^[A-Za-z0-9_-]{1,64}$/,
  messages: /^[A-Za-z0-9_-]{1,128}$/,
  'generate-content': /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/,
}
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } }
const ARGUMENTS = '{"city":"Oslo"}'

/** A conversation in which each tool was called once, the first of which must be called next. */
function conversation(format: FormatName, names: readonly string[], chosen: string): Record<string, unknown> {
  switch (format) {
    case 'chat-completions':
      return {
        tools: names.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } })),
        tool_choice: { type: 'function', function: { name: chosen } },
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: null,
            tool_calls: names.map((name, index) => ({
              ...{ id: `call_${index}`, type: 'function' },
              function: { name, arguments: ARGUMENTS },
            })),
          },
          ...names.map((_, index) => ({ role: 'tool', tool_call_id: `call_${index}`, content: 'ok' })),
        ],
      }
    case 'messages':
      return {
        tools: names.map((name) => ({ name, input_schema: SCHEMA })),
        tool_choice: { type: 'tool', name: chosen },
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: names.map((name, index) => ({
              ...{ type: 'tool_use', id: `call_${index}`, name },
              input: { city: 'Oslo' },
            })),
          },
          {
            role: 'user',
            content: names.map((_, index) => ({ type: 'tool_result', tool_use_id: `call_${index}`, content: 'ok' })),
          },
        ],
      }
    case 'generate-content':
      return {
        tools: [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [chosen] } },
        contents: [
          { role: 'user', parts: [{ text: 'Hi' }] },
          { role: 'model', parts: names.map((name) => ({ functionCall: { name, args: { city: 'Oslo' } } })) },
          { role: 'user', parts: names.map((name) => ({ functionResponse: { name, response: { output: 'ok' } } })) },
        ],
      }
    case 'responses':
      return {
        tools: names.map((name) => ({ type: 'function', name, parameters: SCHEMA })),
        tool_choice: { type: 'function', name: chosen },
        input: [
          { role: 'user', content: 'Hi' },
          ...names.map((name, index) => ({
            ...{ type: 'function_call', call_id: `call_${index}`, name },
            arguments: ARGUMENTS,
          })),
          ...names.map((_, index) => ({ type: 'function_call_output', call_id: `call_${index}`, output: 'ok' })),
        ],
      }
  }
}

/** All names in a body, in their order: of tools, of the choice, and in the history. */
function namesIn(body: unknown): string[] {
  if (Array.isArray(body)) return body.flatMap(namesIn)
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([field, value]) => {
    if (field === 'name' && typeof value === 'string') return [value]
    return field === 'allowedFunctionNames' ? (value as string[]) : namesIn(value)
  })
}

/** What a provider answers: a call of `name`. */
async function callOf(format: FormatName, isStream: boolean, name: string): Promise<Response> {
  const text = await respondWith({ fixture: 'matrix/tool-one', usage: null }, format, isStream).text()
  const headers = { 'content-type': isStream ? 'text/event-stream' : 'application/json' }
  return new Response(text.replaceAll('"get_weather"', JSON.stringify(name)), { headers })
}

const PAIRS = FORMATS.flatMap((format) =>
  FORMATS.flatMap((provider) => [true, false].map((stream) => ({ format, provider, stream }))),
)

describe.each(PAIRS)('$format at a provider of $provider, streamed: $stream', ({ format, provider, stream }) => {
  const names = NAMES[format]

  async function turn(chosen: string, offered = names): Promise<{ told: string[]; answer: string }> {
    let told: string[] = []
    const model = world.modelWith(provider, (call) => {
      told = [...new Set(namesIn(call.body))]
      return callOf(provider, stream, told[offered.indexOf(chosen)] ?? '')
    })
    const { response, text } = await world.ask({ format, model, stream, body: conversation(format, offered, chosen) })
    expect({ status: response.status, text: response.ok || text }).toEqual({ status: 200, text: true })
    return { told, answer: text }
  }

  test('every tool name is valid and unique at the provider, and the answer contains the tool name that the caller sent', async () => {
    for (const chosen of names) {
      const { told, answer } = await turn(chosen)
      expect(told).toHaveLength(names.length)
      if (format === provider) expect(told).toEqual(names)
      else {
        for (const [index, name] of told.entries()) {
          expect(name).toMatch(TAKEN[provider])
          if (TAKEN[provider].test(names[index] ?? '')) expect(name).toBe(names[index] ?? '')
        }
      }
      expect(answer).toContain(JSON.stringify(chosen))
    }
  })

  test('a tool keeps its translated name if other tools are added or removed', async () => {
    const [first = '', ...others] = names
    const { told } = await turn(first)
    const { told: later } = await turn(first, [...others, first, 'another'])
    expect(later.slice(0, names.length)).toEqual([...told.slice(1), told[0] ?? ''])
  })
})

test('a translated tool name never equals another tool’s own name', async () => {
  let told: string[] = []
  const ask = async (names: string[]) => {
    const model = world.modelWith('responses', (call) => {
      told = [...new Set(namesIn(call.body))]
      return callOf('responses', false, told[0] ?? '')
    })
    const body = conversation('chat-completions', names, LONG)
    return (await world.ask({ format: 'chat-completions', model, body })).text
  }
  await ask([LONG])
  const [taken = ''] = told
  expect(await ask([LONG, taken])).toContain(JSON.stringify(LONG))
  expect(told[1]).toBe(taken)
  expect(new Set(told).size).toBe(2)
})
