/** Conversations, encoded for messages providers: no shape that the API refuses is sent. */
import { describe, expect, test } from 'bun:test'
import { chatRequest, traits } from '@test/formats/messages/support'
import type { ModelBlock, TextBlock, ToolResultBlock, Turn, UserBlock } from '@/chat/request'
import { messages } from '@/formats/messages/index'
import type { JsonObject } from '@/lib/json'

const text = (value: string): TextBlock => ({ type: 'text', text: value })
const call = (id: string, argumentsText = '{}'): ModelBlock => ({ type: 'tool-call', id, name: 'f', argumentsText })
const result = (callId: string, value = 'ok'): ToolResultBlock => ({
  type: 'tool-result',
  callId,
  content: [{ type: 'text', text: value }],
  isError: false,
})
const user = (...content: UserBlock[]): Turn => ({ role: 'user', content })
const assistant = (...content: ModelBlock[]): Turn => ({ role: 'assistant', content })
const system = (...content: TextBlock[]): Turn => ({ role: 'system', content })

function encode(turns: Turn[], ...quirks: string[]) {
  const { body, warnings } = messages.encodeRequest(chatRequest({ turns }), traits(...quirks))
  return { messages: body.messages as JsonObject[], features: warnings.map((warning) => warning.feature) }
}

describe('turns', () => {
  test('adjacent messages of one role become one', () => {
    expect(encode([user(text('a')), user(text('b')), assistant(text('c')), user(text('d'))]).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: 'c' },
      { role: 'user', content: 'd' },
    ])
  })

  test('the first message is always the user’s', () => {
    const { messages: encoded, features } = encode([assistant(text('Hello')), user(text('Hi'))])
    expect(encoded.map((message) => message.role)).toEqual(['user', 'assistant', 'user'])
    expect(features).toEqual(['messages'])
    expect(encode([]).messages).toHaveLength(1)
  })

  test('empty texts and turns are dropped', () => {
    expect(encode([user(text('a'), text('')), assistant(text('')), user(text('b'))]).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
  })

  test('an unfinished assistant turn is sent without white space at its end', () => {
    expect(encode([user(text('a')), assistant(text('So \n'))]).messages.at(-1)).toEqual({
      role: 'assistant',
      content: 'So',
    })
    expect(encode([user(text('a')), assistant(text(' \n'))]).messages).toHaveLength(1)
  })

  test('a model without prefill gets an instruction to continue', () => {
    const { messages: encoded } = encode([user(text('a')), assistant(text('So'))], 'no-prefill')
    expect(encoded.at(-1)).toEqual({ role: 'user', content: 'Continue.' })
  })

  test('dropped participant names are named in a warning', () => {
    expect(encode([{ ...user(text('a')), name: 'Ann' }]).features).toEqual(['participants'])
  })
})

describe('system turns', () => {
  const turns = [user(text('a')), system(text('Be brief.'), text('Be kind.')), assistant(text('b')), user(text('c'))]

  test('system turns become user text', () => {
    expect(encode(turns).messages[0]).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: '<system>Be brief.</system>' },
        { type: 'text', text: '<system>Be kind.</system>' },
      ],
    })
  })

  test('system turns stay in place if the model accepts them', () => {
    expect(encode(turns, 'mid-system').messages.map((message) => message.role)).toEqual([
      'user',
      'system',
      'assistant',
      'user',
    ])
    expect(encode([user(text('a')), system(text('b')), system(text('c'))], 'mid-system').messages).toEqual([
      { role: 'user', content: 'a' },
      {
        role: 'system',
        content: [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      },
    ])
  })

  test('system turns become user text at places that the API refuses', () => {
    const { messages: encoded } = encode(
      [user(text('a')), assistant(text('b')), system(text('c')), user(text('d'))],
      'mid-system',
    )
    expect(encoded.map((message) => message.role)).toEqual(['user', 'assistant', 'user'])
  })

  test('a system turn between a call and its result is moved', () => {
    const { messages: encoded } = encode([user(text('a')), assistant(call('t')), system(text('b')), user(result('t'))])
    expect(encoded[2]?.content).toMatchObject([{ type: 'tool_result' }, { type: 'text' }])
  })
})

describe('tool calls', () => {
  test('results of parallel calls are sent in one message, before other content', () => {
    const turns = [
      user(text('a')),
      assistant(text('b'), call('1', '{"x":1}'), call('2', '')),
      user(result('1')),
      user(text('and')),
      user(result('2')),
    ]
    const { messages: encoded, features } = encode(turns)
    expect(encoded.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'b' },
          { type: 'tool_use', id: '1', name: 'f', input: { x: 1 } },
          { type: 'tool_use', id: '2', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: '1', content: 'ok' },
          { type: 'tool_result', tool_use_id: '2', content: 'ok' },
          { type: 'text', text: 'and' },
        ],
      },
    ])
    expect(features).toEqual([])
  })

  test('tool calls without a result get an error', () => {
    const orphan = {
      type: 'tool_result',
      tool_use_id: '2',
      content: 'No result was given for this tool call.',
      is_error: true,
    }
    const middle = encode([user(text('a')), assistant(call('1'), call('2')), user(text('go on'), result('1'))])
    expect(middle.messages[2]?.content).toEqual([
      orphan,
      { type: 'tool_result', tool_use_id: '1', content: 'ok' },
      { type: 'text', text: 'go on' },
    ])
    expect(middle.features).toEqual(['tool_result'])
    expect(encode([user(text('a')), assistant(call('2'))]).messages.at(-1)).toEqual({ role: 'user', content: [orphan] })
    expect(
      encode([user(text('a')), assistant(call('2')), system(text('s')), assistant(text('b'))]).messages[2]?.content,
    ).toContainEqual(orphan)
  })

  test('results without a call become user text', () => {
    const { messages: encoded, features } = encode([
      user(result('x'), text('a')),
      assistant(call('1')),
      user(result('1'), result('1')),
    ])
    const inWords = (id: string) => [
      { type: 'text', text: `Result of tool ${id}:` },
      { type: 'text', text: 'ok' },
    ]
    expect(encoded[0]).toEqual({ role: 'user', content: [...inWords('x'), { type: 'text', text: 'a' }] })
    expect(encoded[2]?.content).toEqual([expect.objectContaining({ type: 'tool_result' }), ...inWords('1')])
    expect(features).toEqual(['tool_result', 'tool_result'])
  })

  test.each([
    ['nonsense', { invalid_arguments: 'nonsense' }],
    ['{"a":1}{"b":2}', { invalid_arguments: '{"a":1}{"b":2}' }],
    ['[1]', { invalid_arguments: '[1]' }],
    ['  ', {}],
  ])('malformed arguments %s are encoded as an object', (argumentsText, input) => {
    const { messages: encoded } = encode([user(text('a')), assistant(call('1', argumentsText)), user(result('1'))])
    expect(encoded[1]?.content).toMatchObject([{ input }])
  })

  test('call ids are valid, unique and deterministic', () => {
    const turns = [
      user(text('a')),
      assistant(call('call_xyz|weird id'), call('')),
      user(result('call_xyz|weird id'), result('')),
      assistant(call('call_1'), call('call_1')),
      user(result('call_1', 'first'), result('call_1', 'second')),
      assistant(call('call_1')),
      user(result('call_1', 'third')),
    ]
    const { messages: encoded, features } = encode(turns)
    expect(features).toEqual([])
    expect(encode(turns).messages).toEqual(encoded)
    const blocks = encoded.flatMap((message) => (Array.isArray(message.content) ? message.content : [])) as JsonObject[]
    const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id as string] : []))
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id as string] : []))
    expect(results).toEqual(calls)
    expect(new Set(calls).size).toBe(5)
    expect(calls.every((id) => /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true)
    expect(
      blocks
        .filter((block) => block.type === 'tool_result')
        .map((block) => block.content)
        .slice(2),
    ).toEqual(['first', 'second', 'third'])
  })

  test('tool results may have images, files and errors', () => {
    const turns = [
      user(text('a')),
      assistant(call('1')),
      user({
        type: 'tool-result',
        callId: '1',
        isError: true,
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA' } },
        ],
        cache: { ttl: '5m' },
      }),
    ]
    expect(encode(turns).messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: '1',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
        ],
        is_error: true,
        cache_control: { type: 'ephemeral' },
      },
    ])
  })
})

describe('reasoning', () => {
  test('only reasoning signed by this format’s providers is sent back', () => {
    const own = { format: 'messages', value: 'Eq=' } as const
    const foreign = { format: 'generate-content', value: 'Ab=' } as const
    const turn = assistant(
      { type: 'reasoning', text: 'mine', signature: own },
      { type: 'reasoning', text: '', signature: own },
      { type: 'reasoning', text: '', redacted: own },
      { type: 'reasoning', text: 'foreign', signature: foreign },
      { type: 'reasoning', text: '', redacted: foreign },
      { type: 'reasoning', text: 'unsigned' },
      text('b'),
    )
    expect(encode([user(text('a')), turn, user(text('c'))]).messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'mine', signature: 'Eq=' },
      { type: 'thinking', thinking: '', signature: 'Eq=' },
      { type: 'redacted_thinking', data: 'Eq=' },
      { type: 'text', text: 'b' },
    ])
  })

  test('a turn that only has removed reasoning is dropped', () => {
    const thought: ModelBlock = { type: 'reasoning', text: 'x', signature: { format: 'messages', value: 'Eq=' } }
    expect(encode([user(text('a')), assistant(thought), user(text('b'))]).messages).toHaveLength(1)
  })
})
