/** Turns of other formats as chat-completions messages, where this format is stricter or supports less than the hub. */

import { describe, expect, test } from 'bun:test'
import { traitsWith } from '@test/formats/chat-completions/support'
import { GatewayError } from '@/chat/error'
import type { ModelBlock, TextBlock, ToolResultBlock, Turn, UserBlock, Warning } from '@/chat/request'
import { encodeTurns } from '@/formats/chat-completions/provider-side/encode-turns'
import { createToolIds } from '@/formats/chat-completions/tool-calls'
import type { JsonObject } from '@/lib/json'

function encode(turns: Turn[], quirks: string[] = []): JsonObject[] {
  return encodeTurns(turns, traitsWith(...quirks), [])
}

function features(turns: Turn[]): string[] {
  const warnings: Warning[] = []
  encodeTurns(turns, traitsWith(), warnings)
  return warnings.map(({ feature }) => feature)
}

const text = (content: string): TextBlock => ({ type: 'text', text: content })
const user = (...content: UserBlock[]): Turn => ({ role: 'user', content })
const assistant = (...content: ModelBlock[]): Turn => ({ role: 'assistant', content })
const call = (id: string, name = 'one', argumentsText = '{}'): ModelBlock => ({
  type: 'tool-call',
  id,
  name,
  argumentsText,
})
const result = (callId: string, more: Partial<ToolResultBlock> = {}): ToolResultBlock => ({
  type: 'tool-result',
  callId,
  content: [text(`result of ${callId}`)],
  isError: false,
  ...more,
})
const wireCall = (id: string, name = 'one', argumentsText = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: argumentsText },
})

describe('system messages between turns', () => {
  const middle: Turn[] = [
    user(text('hi')),
    { role: 'system', content: [text('Be brief.')] },
    assistant(text('ok')),
    user(text('go')),
  ]

  test('a later system message stays in its place', () => {
    expect(encode(middle).map(({ role }) => role)).toEqual(['user', 'system', 'assistant', 'user'])
  })

  test('a later system message becomes part of the user message if the service requires that', () => {
    expect(encode(middle, ['no-mid-system', 'string-content'])).toEqual([
      { role: 'user', content: 'hi\n\n<system>\nBe brief.\n</system>' },
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: 'go' },
    ])
  })
})

describe('text', () => {
  test('one text block is a string; several are parts, or one string if the service needs that', () => {
    expect(encode([user(text('a'))])).toEqual([{ role: 'user', content: 'a' }])
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]
    expect(encode([user(text('a'), text(''), text('b'))])).toEqual([{ role: 'user', content: parts }])
    expect(encode([user(text('a'), text('b'))], ['string-content'])).toEqual([{ role: 'user', content: 'a\n\nb' }])
  })

  test('assistant text is one string; assistant text at the end gives a warning', () => {
    expect(encode([user(text('a')), assistant(text('b'), text('c'))])[1]).toEqual({ role: 'assistant', content: 'bc' })
    expect(features([user(text('a')), assistant(text('{'))])).toEqual(['prefill'])
  })

  test('a participant’s name is sent', () => {
    expect(encode([{ ...user(text('a')), name: 'Ann' }])).toEqual([{ role: 'user', content: 'a', name: 'Ann' }])
  })
})

describe('tool results', () => {
  test('tool results come first, one message each, then the rest of the turn', () => {
    const turns = [
      user(text('hi')),
      assistant(text('Looking.'), call('a'), call('b', 'two', '')),
      user(text('and?'), result('b'), result('a')),
    ]
    expect(encode(turns)).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'Looking.', tool_calls: [wireCall('a'), wireCall('b', 'two', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: 'result of a' },
      { role: 'tool', tool_call_id: 'b', content: 'result of b' },
      { role: 'user', content: 'and?' },
    ])
  })

  test('tool results follow their call, even if other turns were between them', () => {
    const turns = [
      assistant(call('a'), call('b')),
      { role: 'system', content: [text('Note.')] } satisfies Turn,
      user(result('a')),
      user(result('b'), text('more')),
    ]
    expect(encode(turns).map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'system', 'user'])
  })

  test('failed tool results are marked, and JSON results are text', () => {
    const turns = [
      assistant(call('a'), call('b')),
      user(result('a', { isError: true }), result('b', { content: [], json: { ok: true } })),
    ]
    expect(encode(turns).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'Error: result of a' },
      { role: 'tool', tool_call_id: 'b', content: '{"ok":true}' },
    ])
    const empty = result('a', { content: [text('')], json: { output: '' } })
    expect(encode([assistant(call('a')), user(empty)])[1]?.content).toBe('')
  })

  test('images of tool results are shown in the next user message, with a note', () => {
    const image: UserBlock = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } }
    const turns = [assistant(call('a')), user(result('a', { content: [text('see'), image] }), text('well?'))]
    expect(encode(turns).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'see\n[1 attached file(s) follow in the next user message]' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Files returned by tool one (a):' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          { type: 'text', text: 'well?' },
        ],
      },
    ])
    const silent = [
      assistant(call('a')),
      user(result('a', { content: [image] })),
      assistant(text('ok')),
      user(text('go')),
    ]
    expect(encode(silent).map(({ role }) => role)).toEqual(['assistant', 'tool', 'user', 'assistant', 'user'])
  })

  test('missing tool results are added, and results without a call become user text', () => {
    const turns = [assistant(call('a')), user(result('zz', { name: 'look' }), text('hm'))]
    expect(encode(turns).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'Error: no result was provided.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Result of tool look:' },
          { type: 'text', text: 'result of zz' },
          { type: 'text', text: 'hm' },
        ],
      },
    ])
    expect(features(turns)).toEqual(['tool-call', 'tool-result'])
  })

  test('results of calls with the same id in one turn are paired in order', () => {
    const turns = [
      assistant(call('a'), call('a')),
      user(result('a', { content: [text('1')] }), result('a', { content: [text('2')] })),
    ]
    const [first, ...results] = encode(turns)
    const calls = (first?.tool_calls ?? []) as JsonObject[]
    expect(calls[0]?.id).toBe('a')
    expect(calls[1]?.id).not.toBe('a')
    expect(results).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: calls[1]?.id, content: '2' },
    ])
  })

  test('call ids are valid at every service, and equal for call and result', () => {
    const long = `toolu_${'x'.repeat(900)}`
    const ids = [long, `${long}y`, 'call|weird id', '', 'ä', 'fine_id-1']
    const encoded = ids.map(createToolIds())
    for (const id of encoded) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/)
    expect(new Set(encoded).size).toBe(ids.length)
    expect(encoded.at(-1)).toBe('fine_id-1')
    const [message, answer] = encode([assistant(call(long)), user(result(long))])
    expect(message?.tool_calls).toMatchObject([{ id: encoded[0] }])
    expect(answer?.tool_call_id).toBe(encoded[0] ?? '')
  })
})

describe('reasoning and signatures', () => {
  const turn = assistant(
    { type: 'reasoning', text: 'Hm.', signature: { format: 'messages', value: 'foreign' } },
    { type: 'reasoning', text: '', redacted: { format: 'messages', value: 'foreign' } },
    {
      type: 'tool-call',
      id: 'a',
      name: 'f',
      argumentsText: '{}',
      signature: { format: 'generate-content', value: 'c2ln' },
    },
    { type: 'tool-call', id: 'b', name: 'f', argumentsText: '{}', signature: { format: 'messages', value: 'foreign' } },
  )
  const turns = [turn, user(result('a'), result('b'))]

  test('reasoning and signatures of other providers are dropped', () => {
    const sent = JSON.stringify(encode(turns))
    for (const secret of ['Hm.', 'foreign', 'c2ln']) expect(sent).not.toContain(secret)
  })

  test('reasoning and signatures of the service are sent back if it needs them', () => {
    const [message] = encode(turns, ['reasoning-content', 'google-extra-content'])
    expect(message).toMatchObject({
      reasoning_content: 'Hm.',
      tool_calls: [{ extra_content: { google: { thought_signature: 'c2ln' } } }, { id: 'b' }],
    })
    expect(JSON.stringify(message)).not.toContain('foreign')
  })

  test('reasoning and signatures use the service’s field name', () => {
    const [message] = encode(turns, ['reasoning-field'])
    expect(message).toMatchObject({ reasoning: 'Hm.' })
    expect(message).not.toHaveProperty('reasoning_content')
  })
})

describe('files', () => {
  const parts: [name: string, block: UserBlock, part: JsonObject][] = [
    [
      'an image by address',
      { type: 'image', source: { type: 'url', url: 'https://host/a.png' }, detail: 'high' },
      { type: 'image_url', image_url: { url: 'https://host/a.png', detail: 'high' } },
    ],
    [
      'a PDF',
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'aGk=' } },
      { type: 'file', file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
    ],
    [
      'a file of this format',
      { type: 'file', source: { type: 'file-id', id: 'file-1', format: 'chat-completions' } },
      { type: 'file', file: { file_id: 'file-1' } },
    ],
    [
      'audio',
      { type: 'audio', mediaType: 'audio/x-wav', data: 'aGk=' },
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
    ],
  ]
  for (const [name, block, part] of parts) {
    test(name, () => expect(encode([user(block)])).toEqual([{ role: 'user', content: [part] }]))
  }

  test('a text document is sent as text, after its context', () => {
    const source = { type: 'text', text: 'body', mediaType: 'text/plain' } as const
    expect(encode([user({ type: 'file', source, filename: 'a.txt', context: 'About A' })])[0]?.content).toEqual([
      { type: 'text', text: 'About A' },
      { type: 'text', text: '<document name="a.txt">\nbody\n</document>' },
    ])
  })

  test('a text file is sent as text', () => {
    const source = { type: 'base64', mediaType: 'text/csv', data: Buffer.from('a,ä').toString('base64') } as const
    expect(encode([user({ type: 'file', source })])).toEqual([{ role: 'user', content: 'a,ä' }])
  })

  const refused: [name: string, block: UserBlock][] = [
    ['a file by address', { type: 'file', source: { type: 'url', url: 'https://host/a.pdf' } }],
    ['a file of another format', { type: 'file', source: { type: 'file-id', id: 'x', format: 'messages' } }],
    ['an image of another format', { type: 'image', source: { type: 'file-id', id: 'x', format: 'messages' } }],
    ['audio of another kind', { type: 'audio', mediaType: 'audio/ogg', data: 'aGk=' }],
  ]
  for (const [name, block] of refused) {
    test(`${name} is refused`, () => expect(() => encode([user(block)])).toThrow(GatewayError))
  }

  test('an image that the model made is sent back to the model', () => {
    const image: UserBlock = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } }
    expect(encode([assistant(text('Here'), image), user(text('bigger'))])).toEqual([
      { role: 'assistant', content: 'Here' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Files from your last message:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          { type: 'text', text: 'bigger' },
        ],
      },
    ])
  })
})
