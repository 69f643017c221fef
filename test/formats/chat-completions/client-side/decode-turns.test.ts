/** Messages and tools of a chat-completions request, decoded. */
import { describe, expect, test } from 'bun:test'
import type { ChatRequest } from '@/chat/request'
import { decodeRequest } from '@/formats/chat-completions/client-side/decode-request'
import { CUSTOM_PARAMETERS } from '@/formats/custom-tools'
import type { JsonObject, JsonValue } from '@/lib/json'

const USER: JsonObject = { role: 'user', content: 'hi' }

describe('messages', () => {
  test('system messages before the first turn are the system prompt, later ones stay in place', () => {
    const request = decodeMessages(
      { role: 'system', content: 'one' },
      {
        role: 'developer',
        content: [{ type: 'text', text: 'two', prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } }],
      },
      USER,
      { role: 'system', content: 'three' },
      { role: 'assistant', content: '' },
    )
    expect(request.system).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two', cache: { ttl: '1h' } },
    ])
    expect(request.turns).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'system', content: [{ type: 'text', text: 'three' }] },
      { role: 'assistant', content: [] },
    ])
  })

  test('successive tool messages are one user turn, with the names of their calls', () => {
    const call = (id: string, name: string, text: string) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    })
    const request = decodeMessages(
      USER,
      {
        role: 'assistant',
        content: 'Looking.',
        reasoning_content: 'Hm.',
        tool_calls: [
          { ...call('a', 'one', '{}'), extra_content: { google: { thought_signature: 'c2ln' } } },
          call('b', 'two', ''),
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'B' }] },
      USER,
    )
    expect(request.turns.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Looking.' },
          {
            type: 'tool-call',
            id: 'a',
            name: 'one',
            argumentsText: '{}',
            signature: { format: 'generate-content', value: 'c2ln' },
          },
          { type: 'tool-call', id: 'b', name: 'two', argumentsText: '' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool-result', callId: 'a', name: 'one', content: [{ type: 'text', text: 'A' }], isError: false },
          { type: 'tool-result', callId: 'b', name: 'two', content: [{ type: 'text', text: 'B' }], isError: false },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ])
  })

  test('messages of the deprecated function kind are calls and results', () => {
    const request = decodeMessages(
      USER,
      { role: 'assistant', content: null, function_call: { name: 'one', arguments: '{"a":1}' } },
      { role: 'function', name: 'one', content: 'A' },
    )
    expect(request.turns.slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'tool-call', id: 'call_1', name: 'one', argumentsText: '{"a":1}' }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool-result',
            callId: 'call_1',
            name: 'one',
            content: [{ type: 'text', text: 'A' }],
            isError: false,
          },
        ],
      },
    ])
  })

  test('messages may have images, audio and files', () => {
    const parts = [
      { type: 'image_url', image_url: { url: 'https://host/a.png', detail: 'low' } },
      { type: 'image_url', image_url: 'data:image/png;base64,aGk=' },
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,aGk=', filename: 'a.pdf' } },
      { type: 'file', file: { file_data: 'aGk=', filename: 'a.csv' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'image_url', image_url: { url: 'data:text/plain,a%20b' } },
    ]
    expect(decodeMessages({ role: 'user', content: parts }).turns[0]?.content).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://host/a.png' }, detail: 'low' },
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } },
      { type: 'audio', mediaType: 'audio/mpeg', data: 'aGk=' },
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'aGk=' }, filename: 'a.pdf' },
      { type: 'file', source: { type: 'base64', mediaType: 'text/csv', data: 'aGk=' }, filename: 'a.csv' },
      { type: 'file', source: { type: 'file-id', id: 'file-1', format: 'chat-completions' } },
      { type: 'image', source: { type: 'base64', mediaType: 'text/plain', data: 'YSBi' } },
    ])
  })

  test('videos in messages become files with a video media type', () => {
    const videoOf = (video_url: JsonValue) =>
      decodeMessages({ role: 'user', content: [{ type: 'video_url', video_url }] }).turns[0]?.content
    const url = 'https://example.com/cat'
    expect(videoOf({ url })).toEqual([{ type: 'file', source: { type: 'url', url, mediaType: 'video/mp4' } }])
    expect(videoOf('data:video/webm;base64,AA==')).toEqual([
      { type: 'file', source: { type: 'base64', data: 'AA==', mediaType: 'video/webm' } },
    ])
    expect(() => videoOf({ url: '' })).toThrow('messages[0].content[0].video_url is required')
  })

  test('text parts with the names of OpenAI’s newer interface are read as text', () => {
    const content = ['input_text', 'output_text'].map((type) => ({ type, text: type }))
    expect(decodeMessages({ role: 'user', content }).turns[0]?.content).toEqual([
      { type: 'text', text: 'input_text' },
      { type: 'text', text: 'output_text' },
    ])
  })

  test('unknown message parts are refused with place and type, as their cost is unknown', () => {
    expect(() =>
      decodeMessages({ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'hologram' }] }),
    ).toThrow('messages[0].content[1] is of type "hologram", which is not known here')
  })
})

describe('tools', () => {
  test('deprecated functions allow one call at a time, unless there are other tools', () => {
    const functions = [{ name: 'old' }]
    expect(decode({ functions })).toMatchObject({ wantsFunctionCall: true, parallelToolCalls: false })
    const both = decode({ functions, tools: [{ type: 'function', function: { name: 'f' } }] })
    expect([both.wantsFunctionCall, both.parallelToolCalls]).toEqual([undefined, undefined])
  })

  const parameters = { type: 'object', properties: { q: { type: 'string' } } }

  test('tools of every kind are decoded', () => {
    const request = decode({
      tools: [
        { type: 'function', function: { name: 'one', description: 'One', parameters, strict: true } },
        { type: 'function', function: { name: 'two' } },
        { type: 'custom', custom: { name: 'three', description: 'Three', format: { type: 'text' } } },
        { type: 'function', name: 'flat', parameters },
      ],
      functions: [{ name: 'old', parameters }],
    })
    expect(request.tools).toEqual([
      { name: 'one', description: 'One', parameters, strict: true },
      { name: 'two' },
      {
        name: 'three',
        description: 'Three',
        parameters: CUSTOM_PARAMETERS,
        custom: { description: 'Three' },
      },
      { name: 'flat', parameters },
      { name: 'old', parameters },
    ])
  })

  const choices: [given: JsonValue, decoded: ChatRequest['toolChoice']][] = [
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    ['any', { type: 'required' }],
    [
      { type: 'function', function: { name: 'one' } },
      { type: 'tool', name: 'one' },
    ],
    [
      { type: 'custom', custom: { name: 'one' } },
      { type: 'tool', name: 'one' },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'one' } }] },
      },
      { type: 'required', names: ['one'] },
    ],
    ['sometimes', undefined],
    [{ type: 'mcp' }, undefined],
  ]
  for (const [given, decoded] of choices) {
    test(`the tool choice ${JSON.stringify(given)} is decoded`, () => {
      expect(decode({ tool_choice: given }).toolChoice).toEqual(decoded)
    })
  }

  test('the deprecated function choice is decoded', () => {
    expect(decode({ function_call: { name: 'one' } }).toolChoice).toEqual({ type: 'tool', name: 'one' })
  })
})

function decode(fields: JsonObject): ChatRequest {
  return decodeRequest({ model: 'svc/alpha', messages: [USER], ...fields })
}

function decodeMessages(...messages: JsonValue[]): ChatRequest {
  return decodeRequest({ model: 'svc/alpha', messages })
}
