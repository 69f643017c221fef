/** The sandbox provider over HTTP: every format, streamed and whole, with tools, tool results and a token limit. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '@/boot/embedded/sandbox'
import { SseParser } from '@/lib/streams/sse'
import { type Ask, FORMATS } from './sandbox-formats'

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox()
})

afterAll(() => sandbox.stop())

const cases = FORMATS.flatMap((format) => [true, false].map((stream) => ({ format, stream, name: format.name })))

describe.each(cases)('$name, stream: $stream', ({ format, stream }) => {
  async function ask(question: Omit<Ask, 'stream'>) {
    const response = await fetch(sandbox.baseUrl + format.path(stream), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(format.body({ ...question, stream })),
    })
    expect(response.status).toBe(200)
    if (!stream) return format.readWhole(await response.json())
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const parser = new SseParser()
    const events = [...parser.push(await response.bytes()), ...parser.end()]
    expect(events).not.toBeEmpty()
    const data = events.flatMap((event) => (event.data === undefined || event.data === '[DONE]' ? [] : [event.data]))
    return format.readEvents(data.map((text) => JSON.parse(text)))
  }

  test('the sandbox marks its answer as simulated, repeats the prompt and counts tokens by length', async () => {
    const short = await ask({ prompt: 'Good morning, sandbox' })
    expect(short.text).toContain('This answer is simulated')
    expect(short.text).toContain('Good morning, sandbox')
    expect(short.finish).toBe(format.finish.stop)
    const long = await ask({ prompt: 'Good morning, sandbox. '.repeat(9) })
    expect(long.inputTokens).toBeGreaterThan(short.inputTokens)
    expect(long.outputTokens).toBeGreaterThan(short.outputTokens)
  })

  test('the sandbox calls a tool if the prompt asks for it, and answers in text after the tool result', async () => {
    const call = await ask({ prompt: 'Please use get_weather for Oslo', withTool: true })
    expect(call.toolCalls).toEqual([{ name: 'get_weather', arguments: { city: 'example' } }])
    expect(call.finish).toBe(format.finish.tool)
    expect(call.outputTokens).toBeGreaterThan(0)
    const answer = await ask({ prompt: 'Please use get_weather for Oslo', withTool: true, toolResult: 'sunny, 21 C' })
    expect(answer.toolCalls).toEqual([])
    expect(answer.text).toContain('sunny, 21 C')
  })

  test('the sandbox calls no tool that the prompt does not ask for', async () => {
    const answer = await ask({ prompt: 'Good morning, sandbox', withTool: true })
    expect(answer.toolCalls).toEqual([])
  })

  test('the sandbox stops at the token limit', async () => {
    const answer = await ask({ prompt: 'Write 200 words', maxTokens: 12 })
    expect(answer.outputTokens).toBe(12)
    expect(answer.finish).toBe(format.finish.length)
  })
})
