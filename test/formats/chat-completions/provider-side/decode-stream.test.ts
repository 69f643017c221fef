/** Streams of every known chat-completions dialect, from bytes to events. */
import { describe, expect, test } from 'bun:test'
import { decodeChunks, decodePieces, fixtureBytes, fold, usageOf } from '@test/formats/chat-completions/support'
import type { JsonValue } from '@/lib/json'

const START = { id: 'chatcmpl-1', model: 'alpha-2026-01', created: 1_760_000_000 }
const USAGE = usageOf({ uncached: 8, cacheRead: 12, output: 7, reasoning: 3 })
const STOP = [{ kind: 'stop', raw: 'stop' } as const]
const TOOL_CALLS = [{ kind: 'tool-calls', raw: 'tool_calls' } as const]

async function decodeFixture(file: string) {
  return fold(decodePieces([await fixtureBytes(file)]))
}

describe('a stream of text', () => {
  for (const file of ['text.sse', 'text-crlf-bom.sse']) {
    test(`a text stream is one block, one finish and the usage (${file})`, async () => {
      expect(await decodeFixture(file)).toEqual({
        start: START,
        blocks: ['0 text: Hello wörld 👋'],
        finishes: STOP,
        usage: USAGE,
        isEnded: true,
      })
    })
  }

  test('a stream starts with the first chunk that has a choice, not with a filter report before it', async () => {
    const { start, blocks } = await decodeFixture('azure-first-chunk.sse')
    expect(start).toEqual(START)
    expect(blocks).toEqual(['0 text: Hi'])
  })

  test('choices of a stream are separate, each with its own finish reason', async () => {
    const { blocks, finishes } = await decodeFixture('two-choices.sse')
    expect(blocks).toEqual(['0 text: Aa', '1 text: Bb'])
    expect(finishes).toEqual([
      { kind: 'stop', raw: 'stop' },
      { kind: 'length', raw: 'length' },
    ])
  })

  test('a refusal in a stream is not read as text', async () => {
    expect((await decodeFixture('refusal.sse')).blocks).toEqual(["0 refusal: I can't do that."])
  })

  test('images in a stream are decoded', async () => {
    expect((await decodeFixture('image.sse')).blocks).toEqual(['0 text: Here: ', '0 image: image/png aGk='])
  })
})

describe('reasoning', () => {
  test('reasoning in the field reasoning_content is read', async () => {
    const { blocks, usage } = await decodeFixture('deepseek-reasoning.sse')
    expect(blocks).toEqual(['0 reasoning: Hm, yes.', '0 text: Yes'])
    expect(usage).toEqual(usageOf({ uncached: 10, cacheRead: 20, output: 9, reasoning: 6 }))
  })

  test('reasoning in the field reasoning is read, with usage in x_groq', async () => {
    const { blocks, usage } = await decodeFixture('groq-reasoning.sse')
    expect(blocks).toEqual(['0 reasoning: Think', '0 text: Ok'])
    expect(usage).toEqual(usageOf({ uncached: 5, output: 4 }))
  })

  test('reasoning in thinking parts of the content is read', async () => {
    const { blocks } = await decodeFixture('mistral-thinking.sse')
    expect(blocks).toEqual(['0 reasoning: Let me see.', '0 text: Done.'])
  })

  test('reasoning tokens that are not part of the completion count are added to the output', async () => {
    expect((await decodeFixture('xai-reasoning.sse')).usage).toEqual(
      usageOf({ uncached: 12, output: 229, reasoning: 228 }),
    )
  })
})

describe('tool calls', () => {
  const cases: [file: string, blocks: string[]][] = [
    [
      'two-tools.sse',
      ['0 tool-call call_a get_weather: {"city":"Oslo"}', '0 tool-call call_b get_weather: {"city":"Rome"}'],
    ],
    ['interleaved-tools.sse', ['0 tool-call call_a one: {"a":1}', '0 tool-call call_b two: {"b":2}']],
    ['no-argument-tool.sse', ['0 tool-call call_a now: ']],
    ['mistral-whole-tool.sse', ['0 tool-call gSIMJiOkT weather: {"location":"Paris"}']],
    [
      'mistral-two-whole-tools.sse',
      ['0 tool-call aaaaaaaa1 weather: {"location":"Paris"}', '0 tool-call aaaaaaaa2 weather: {"location":"Rome"}'],
    ],
    ['tool-index-from-one.sse', ['0 text: Let me look.', '0 tool-call toolu_01 look: {"q":1}']],
    ['repeated-id.sse', ['0 tool-call call_a one: {"a":1}']],
    ['no-index-fragments.sse', ['0 tool-call call_a one: {"a":1}']],
  ]
  for (const [file, blocks] of cases) {
    test(`tool calls of the recording ${file} are decoded`, async () => {
      const folded = await decodeFixture(file)
      expect(folded.blocks).toEqual(blocks)
      expect(folded.finishes).toEqual(TOOL_CALLS)
      expect(folded.isEnded).toBe(true)
    })
  }

  test('tool calls that all have index 0 are separated by id, keep their signature, and finish as tool calls', async () => {
    const { blocks, finishes } = await decodeFixture('gemini-shim-tools.sse')
    expect(blocks).toEqual([
      '0 tool-call function-call-1 weather: {"city":"Oslo"} [generate-content c2lnbmF0dXJl]',
      '0 tool-call function-call-2 weather: {"city":"Rome"}',
    ])
    expect(finishes).toEqual([{ kind: 'tool-calls', raw: 'stop' }])
  })

  test('tool calls without index and id get an id each', async () => {
    const { blocks } = await decodeFixture('gemini-shim-no-index.sse')
    expect(blocks).toHaveLength(2)
    const ids = blocks.map((block) => /^0 tool-call (call_\w{22}) weather: \{"city":"\w+"\}$/.exec(block)?.[1])
    expect(ids.every((id) => id !== undefined)).toBe(true)
    expect(new Set(ids).size).toBe(2)
  })

  test('deprecated function calls are read', async () => {
    const { blocks, finishes } = await decodeFixture('legacy-function-call.sse')
    expect(blocks).toHaveLength(1)
    expect(blocks[0]).toMatch(/^0 tool-call call_\w{22} one: \{"a":1\}$/)
    expect(finishes).toEqual([{ kind: 'tool-calls', raw: 'function_call' }])
  })

  test('tool calls with one index and no ids are separated by a new name or a new start of arguments', () => {
    const call = (name: string, text: string) => ({ index: 0, function: { name, arguments: text } })
    const delta = { tool_calls: [call('one', '{"a":1}'), call('one', '{"a":2}'), call('two', '')] }
    const { blocks } = fold(decodeChunks([{ choices: [{ index: 0, delta, finish_reason: 'stop' }] }, '[DONE]']))
    expect(blocks.map((block) => block.replace(/call_\w+/, 'ID'))).toEqual([
      '0 tool-call ID one: {"a":1}',
      '0 tool-call ID one: {"a":2}',
      '0 tool-call ID two: ',
    ])
  })

  test('tool call arguments may be an object', () => {
    const delta = { tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: { x: 1 } } }] }
    const { blocks } = fold(decodeChunks([{ choices: [{ index: 0, delta }] }, '[DONE]']))
    expect(blocks).toEqual(['0 tool-call a one: {"x":1}'])
  })

  test('a tool call waits for its name, and keeps arguments that came before', () => {
    const late = [
      { index: 0, id: 'a', function: { arguments: '{"x"' } },
      { index: 0, function: { name: 'one', arguments: ':1}' } },
    ]
    const { blocks } = fold(decodeChunks([{ choices: [{ index: 0, delta: { tool_calls: late } }] }, '[DONE]']))
    expect(blocks).toEqual(['0 tool-call a one: {"x":1}'])
  })

  test('a tool call that never gets a name is an error', () => {
    const delta = { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] }
    const folded = fold(decodeChunks([{ choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] }, '[DONE]']))
    expect(folded.error?.kind).toBe('malformed_tool_call')
    expect(folded.isEnded).toBe(false)
  })

  test('empty tool calls are ignored', () => {
    const delta = { content: 'Hi', tool_calls: [{ index: 0 }, {}, null, 'x'] }
    const folded = fold(decodeChunks([{ choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] }, '[DONE]']))
    expect(folded.blocks).toEqual(['0 text: Hi'])
    expect(folded.finishes).toEqual([{ kind: 'stop', raw: 'tool_calls' }])
  })
})

describe('usage', () => {
  test('usage inside a choice is read', async () => {
    const { usage } = await decodeFixture('moonshot-usage-in-choice.sse')
    expect(usage).toEqual(usageOf({ uncached: 2, cacheRead: 6, output: 2 }))
  })

  test('impossible usage is ignored, and a final zero does not overwrite earlier counts', async () => {
    expect((await decodeFixture('usage-many-ways.sse')).usage).toEqual(usageOf({ uncached: 10, output: 4 }))
  })

  test('usage in the same chunk as the last content is read', async () => {
    expect((await decodeFixture('mistral-whole-tool.sse')).usage).toEqual(usageOf({ uncached: 124, output: 22 }))
  })
})

describe('how a stream ends', () => {
  test('if [DONE] is missing, a finish reason of every choice ends the stream', async () => {
    const folded = await decodeFixture('no-done.sse')
    expect(folded.isEnded).toBe(true)
    expect(folded.finishes).toEqual(STOP)
  })

  test('if [DONE] is missing, a choice without a reason is truncated', () => {
    const chunk = (index: number, finish: string | null) => ({
      choices: [{ index, delta: { content: 'x' }, finish_reason: finish }],
    })
    const folded = fold(decodeChunks([chunk(0, 'stop'), chunk(1, null)]))
    expect(folded.isEnded).toBe(false)
  })

  for (const [file, block] of [
    ['cut.sse', '0 text: Hel'],
    ['cut-in-tool.sse', '0 tool-call call_a one: {"a"'],
  ] as const) {
    test(`${file} is truncated: its blocks are ended and the stream has no normal end`, async () => {
      expect(await decodeFixture(file)).toEqual({ start: START, blocks: [block], finishes: [], isEnded: false })
    })
  }

  test('[DONE] without an answer is an error', async () => {
    expect(await decodeFixture('only-done.sse')).toMatchObject({ error: { kind: 'empty_stream' }, isEnded: false })
  })

  test('content after the finish reason is kept', () => {
    const chunks = [
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      {
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] } },
        ],
      },
      '[DONE]',
    ]
    const folded = fold(decodeChunks(chunks))
    expect(folded.blocks).toEqual(['0 tool-call a f: {}'])
    expect(folded.finishes).toEqual([{ kind: 'tool-calls', raw: 'stop' }])
  })

  test('a whole message instead of deltas is read once', () => {
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }
    expect(fold(decodeChunks([whole, whole, '[DONE]'])).blocks).toEqual(['0 text: Hi'])
  })
})

describe('errors inside a stream', () => {
  const cases: [file: string, error: object][] = [
    ['error-chunk.sse', { kind: 'overloaded', message: 'The server is overloaded' }],
    ['error-event.sse', { kind: '503', message: 'engine died', status: 503 }],
    ['error-in-google-shape.sse', { kind: 'UNAVAILABLE', message: 'The model is overloaded.', status: 503 }],
    ['malformed-json.sse', { kind: 'malformed_event' }],
  ]
  test('several chunks in one event are an error, because clients read only the first one', () => {
    const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] }
    const list = (...chunks: JsonValue[]) =>
      fold(decodePieces([new TextEncoder().encode(`data: ${JSON.stringify(chunks)}\n\n`)]))
    expect(list(chunk).blocks).toEqual(['0 text: a'])
    expect(list(chunk, chunk).error).toMatchObject({ kind: 'malformed_event' })
  })

  for (const [file, error] of cases) {
    test(`${file} ends in an error, and later chunks are ignored`, async () => {
      const folded = await decodeFixture(file)
      expect(folded.error).toMatchObject(error)
      expect(folded.isEnded).toBe(false)
      expect(folded.finishes).toEqual([])
    })
  }

  test('a null error and an empty error object do not count as errors', () => {
    const chunk = { error: null, choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] }
    expect(fold(decodeChunks([{}, chunk, '[DONE]'])).isEnded).toBe(true)
  })
})
