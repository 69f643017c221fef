/** The sandbox's answers: within the request's token limit, valid for its schema, and never an exception. */
import { expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { simulateAnswer } from '@/boot/embedded/sandbox-answer'

const user = (content: string) => [{ role: 'user', content }]
const tool = (name: string, parameters?: object) => ({ function: parameters ? { name, parameters } : { name } })

test('the sandbox answers any request within its token limit', () => {
  const message = fc.record({
    role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
    content: fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.record({ text: fc.string() })))),
  })
  const request = fc.record({
    messages: fc.array(message),
    max_tokens: fc.integer({ min: 1, max: 50 }),
    tools: fc.array(fc.record({ function: fc.record({ name: fc.string(), parameters: fc.object() }) })),
    tool_choice: fc.anything(),
    response_format: fc.anything(),
  })
  fc.assert(
    fc.property(request, (each) => {
      const { usage, ...answer } = simulateAnswer(each)
      expect(usage.inputTokens).toBeGreaterThan(0)
      if (answer.kind === 'text') expect(usage.outputTokens).toBeLessThanOrEqual(each.max_tokens)
    }),
  )
})

test('the sandbox calls a tool whose name is an ordinary word only if the prompt asks for a tool', () => {
  const tools = [tool('search'), tool('Read')]
  expect(simulateAnswer({ messages: user('Read this and search for errors'), tools }).kind).toBe('text')
  expect(simulateAnswer({ messages: user('use the Read tool'), tools })).toMatchObject({ name: 'Read' })
  expect(simulateAnswer({ messages: user('call any function'), tools })).toMatchObject({ name: 'search' })
})

test('the sandbox follows the request’s tool choice rather than the prompt’s words', () => {
  const tools = [tool('get_time'), tool('get_weather')]
  const asking = { messages: user('use get_time'), tools }
  expect(simulateAnswer({ ...asking, tool_choice: 'none' }).kind).toBe('text')
  const named = { type: 'function', function: { name: 'get_weather' } }
  expect(simulateAnswer({ ...asking, tool_choice: named })).toMatchObject({ name: 'get_weather' })
  expect(simulateAnswer({ ...asking, tool_choice: { type: 'function', name: 'get_weather' } })).toMatchObject({
    name: 'get_weather',
  })
  expect(simulateAnswer({ messages: user('hello'), tools, tool_choice: 'required' })).toMatchObject({
    name: 'get_time',
  })
})

test('the sandbox generates arguments that fit the schema', () => {
  const parameters = {
    type: 'OBJECT',
    properties: {
      unit: { type: 'STRING', enum: ['celsius', 'kelvin'] },
      days: { type: ['integer', 'null'], minimum: 3 },
      places: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      exact: { type: 'boolean' },
      ignored: { type: 'string' },
    },
    required: ['unit', 'days', 'places', 'exact'],
  }
  const answer = simulateAnswer({ messages: user('use get_weather'), tools: [tool('get_weather', parameters)] })
  expect(answer).toMatchObject({ arguments: { unit: 'celsius', days: 3, places: [{ name: 'example' }], exact: true } })
  expect(Object.keys(answer.kind === 'tool-call' ? answer.arguments : {})).not.toContain('ignored')
})

test('the sandbox follows an endlessly nested schema to a limit', () => {
  let parameters: object = { type: 'string' }
  for (let level = 0; level < 1000; level++) parameters = { type: 'object', properties: { next: parameters } }
  const answer = simulateAnswer({ messages: user('use get_weather'), tools: [tool('get_weather', parameters)] })
  expect(JSON.stringify(answer).length).toBeLessThan(500)
  expect(answer).toMatchObject({ arguments: { next: { next: {} } } })
})
