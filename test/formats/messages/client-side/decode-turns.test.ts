/** messages turns, decoded: blocks with a meaning in other formats, and signatures inside thinking blocks. */
import { describe, expect, test } from 'bun:test'
import { wireBody } from '@test/formats/messages/support'
import type { ContentBlock } from '@/chat/request'
import { messages } from '@/formats/messages/index'
import type { JsonValue } from '@/lib/json'

function turns(...wire: [role: string, content: JsonValue][]) {
  const body = wireBody({ messages: wire.map(([role, content]) => ({ role, content })) })
  return messages.decodeRequest(body).turns
}

function block(wire: JsonValue, role = 'user'): ContentBlock[] {
  return turns([role, [wire]])[0]?.content ?? []
}

describe('media', () => {
  test.each<[JsonValue, ContentBlock[]]>([
    [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      [{ type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } }],
    ],
    [
      {
        type: 'image',
        source: { type: 'url', url: 'https://example.org/a.png' },
        cache_control: { type: 'ephemeral' },
      },
      [{ type: 'image', source: { type: 'url', url: 'https://example.org/a.png' }, cache: { ttl: '5m' } }],
    ],
    [
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
      [{ type: 'image', source: { type: 'file-id', id: 'file_1', format: 'messages' } }],
    ],
    [
      {
        type: 'document',
        title: 'Report',
        context: 'quarterly',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
      },
      [
        {
          type: 'file',
          source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
          filename: 'Report',
          context: 'quarterly',
        },
      ],
    ],
    [
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
      [{ type: 'file', source: { type: 'text', text: 'words', mediaType: 'text/plain' } }],
    ],
    [
      { type: 'document', source: { type: 'url', url: 'https://example.org/a.pdf' } },
      [{ type: 'file', source: { type: 'url', url: 'https://example.org/a.pdf', mediaType: 'application/pdf' } }],
    ],
    [
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
            { type: 'text', text: 'b' },
          ],
        },
      },
      [
        { type: 'file', source: { type: 'text', text: 'a\n\nb', mediaType: 'text/plain' } },
        { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
      ],
    ],
    [
      { type: 'search_result', source: 'https://example.org', title: 'Found', content: [{ type: 'text', text: 'it' }] },
      [
        {
          type: 'file',
          source: { type: 'text', text: 'it', mediaType: 'text/plain' },
          filename: 'Found',
          context: 'https://example.org',
        },
      ],
    ],
  ])('media is decoded: %j', (wire, expected) => {
    expect(block(wire)).toEqual(expected)
  })
})

describe('tools', () => {
  test('calls keep id and input, and results get the name of their call', () => {
    const decoded = turns(
      ['assistant', [{ type: 'tool_use', id: 'call_xyz|weird id', name: 'f', input: { a: 1 } }]],
      ['user', [{ type: 'tool_result', tool_use_id: 'call_xyz|weird id', content: 'done', is_error: true }]],
    )
    expect(decoded[0]?.content).toEqual([
      { type: 'tool-call', id: 'call_xyz|weird id', name: 'f', argumentsText: '{"a":1}' },
    ])
    expect(decoded[1]?.content).toEqual([
      {
        type: 'tool-result',
        callId: 'call_xyz|weird id',
        name: 'f',
        content: [{ type: 'text', text: 'done' }],
        isError: true,
      },
    ])
  })

  test('results may have images, references and other blocks', () => {
    const [result] = block({
      type: 'tool_result',
      tool_use_id: 't',
      content: [
        { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
        { type: 'tool_reference', tool_name: 'Grep' },
        { type: 'browser_state', tabs: [] },
      ],
    })
    expect(result).toMatchObject({
      content: [
        { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
        { type: 'text', text: 'The tool Grep is available.' },
        { type: 'text', text: '{"type":"browser_state","tabs":[]}' },
      ],
      isError: false,
    })
  })

  test('a result without content is decoded as empty', () => {
    expect(block({ type: 'tool_result', tool_use_id: 't' })).toMatchObject([{ content: [], isError: false }])
  })
})

describe('thinking', () => {
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} }
  const thinking = (signature: JsonValue, text = '') => ({ type: 'thinking', thinking: text, signature })
  const assistant = (...content: JsonValue[]) => turns(['assistant', content])[0]?.content

  test("the format's own signature stays whole, also without text", () => {
    expect(assistant(thinking('EqQB+/8='))).toEqual([
      { type: 'reasoning', text: '', signature: { format: 'messages', value: 'EqQB+/8=' } },
    ])
    expect(assistant({ type: 'redacted_thinking', data: 'Emw=' })).toEqual([
      { type: 'reasoning', text: '', redacted: { format: 'messages', value: 'Emw=' } },
    ])
  })

  test.each([[''], ['svc.unsigned'], [null], ['svc.nobody.reasoning.x']])(
    'unsigned thinking is dropped: %j',
    (signature) => {
      expect(assistant(thinking(signature, 'hm'))).toEqual([{ type: 'reasoning', text: 'hm' }])
      expect(assistant(thinking(signature))).toEqual([])
    },
  )

  test('a signature marked with another format is decoded as that format’s', () => {
    expect(assistant(thinking('svc.generate-content.reasoning.a.b=', 'hm'))).toEqual([
      { type: 'reasoning', text: 'hm', signature: { format: 'generate-content', value: 'a.b=' } },
    ])
    expect(assistant({ type: 'redacted_thinking', data: 'svc.chat-completions.reasoning.enc' })).toEqual([
      { type: 'reasoning', text: '', redacted: { format: 'chat-completions', value: 'enc' } },
    ])
  })

  test('a marked signature before a tool call belongs to the call', () => {
    const signature = { format: 'generate-content', value: 'AbC=' } as const
    expect(assistant(thinking('svc.generate-content.call.AbC='), call, { ...call, id: 'u' })).toEqual([
      { type: 'tool-call', id: 't', name: 'f', argumentsText: '{}', signature },
      { type: 'tool-call', id: 'u', name: 'f', argumentsText: '{}' },
    ])
  })

  test('a marked signature after a text belongs to the text', () => {
    expect(assistant({ type: 'text', text: 'Hi' }, thinking('svc.generate-content.text.AbC='))).toEqual([
      { type: 'text', text: 'Hi', signature: { format: 'generate-content', value: 'AbC=' } },
    ])
  })
})

describe('system', () => {
  test('system messages before the first turn join the system prompt', () => {
    const request = messages.decodeRequest(
      wireBody({
        system: 'First.',
        messages: [
          { role: 'system', content: 'Second.' },
          { role: 'user', content: 'Hi' },
          { role: 'system', content: 'Third.' },
        ],
      }),
    )
    expect(request.system.map((text) => text.text)).toEqual(['First.', 'Second.'])
    expect(request.turns.map((turn) => turn.role)).toEqual(['user', 'system'])
  })
})

test('the top-level cache mark is on the last block', () => {
  const request = messages.decodeRequest(
    wireBody({ cache_control: { type: 'ephemeral', ttl: '1h' }, messages: [{ role: 'user', content: 'Hi' }] }),
  )
  expect(request.turns[0]?.content).toEqual([{ type: 'text', text: 'Hi', cache: { ttl: '1h' } }])
})
