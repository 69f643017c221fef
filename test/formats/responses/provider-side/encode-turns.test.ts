/** Conversations, encoded as input items: every call has its output, thoughts precede their results, media is at allowed places. */
import { describe, expect, test } from 'bun:test'
import { traitsWith } from '@test/formats/responses/support'
import type { FileBlock, ModelBlock, TextBlock, Turn, UserBlock, Warning } from '@/chat/request'
import { encodeTurns } from '@/formats/responses/provider-side/encode-turns'
import type { JsonValue } from '@/lib/json'

function encode(turns: Turn[], ...quirks: string[]) {
  const warnings: Warning[] = []
  const items = encodeTurns(turns, traitsWith(...quirks), warnings)
  return { items, features: warnings.map(({ feature }) => feature) }
}

const user = (...content: UserBlock[]): Turn => ({ role: 'user', content })
const assistant = (...content: ModelBlock[]): Turn => ({ role: 'assistant', content })
const text = (words: string): TextBlock => ({ type: 'text', text: words })
const call = (id: string, argumentsText = '{}'): ModelBlock => ({ type: 'tool-call', id, name: 'f', argumentsText })
const result = (callId: string, words = 'ok', isError = false): UserBlock => ({
  ...{ type: 'tool-result', callId, isError },
  content: [{ type: 'text', text: words }],
})
const thought = (id: string, format: 'responses' | 'messages' = 'responses'): ModelBlock => ({
  ...{ type: 'reasoning', text: 'S' },
  signature: { format, value: format === 'responses' ? `${id}:proof` : id },
})
const ASK = { role: 'user', content: 'go' }
const go = user(text('go'))
const wireCall = (id: string, words = '{}') => ({ type: 'function_call', call_id: id, name: 'f', arguments: words })
const wireOutput = (id: string, output: JsonValue = 'ok') => ({ type: 'function_call_output', call_id: id, output })
const said = (words: string) => ({ type: 'output_text', text: words })

describe('an assistant’s turn', () => {
  test('an assistant turn becomes its items in order, then the outputs of all its calls', () => {
    const turns = [
      go,
      assistant(thought('rs_1'), text('A'), { type: 'refusal', text: 'No' }, call('a', ''), call('b')),
      user(result('b', 'two'), text('and'), result('a', 'one', true)),
    ]
    expect(encode(turns).items).toEqual([
      ASK,
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'proof' },
      { role: 'assistant', content: [said('A'), { type: 'refusal', refusal: 'No' }] },
      wireCall('a'),
      wireCall('b'),
      wireOutput('a', 'Error: one'),
      wireOutput('b', 'two'),
      { role: 'user', content: 'and' },
    ])
  })

  test('other providers’ thoughts, and thoughts without a result, are omitted', () => {
    const turns = [go, assistant(thought('sig', 'messages'), call('a'), thought('rs_2')), user(result('a')), go]
    expect(encode(turns).items).toEqual([ASK, wireCall('a'), wireOutput('a'), ASK])
    expect(encode([go, assistant(thought('rs_3')), go]).items).toEqual([ASK, ASK])
  })

  test('a tool call without a result gets a placeholder, and a result without a call becomes user text', () => {
    const RESULT_IN_WORDS = {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Result of tool b:' },
        { type: 'input_text', text: 'ok' },
      ],
    }
    const { items, features } = encode([go, assistant(call('a')), user(result('b')), go])
    expect(items).toEqual([ASK, wireCall('a'), wireOutput('a', 'Error: no result was provided.'), RESULT_IN_WORDS, ASK])
    expect(features).toEqual(['tool-call', 'tool-result'])
  })

  test('adjacent assistant turns are encoded as one turn', () => {
    expect(encode([go, assistant(call('a')), assistant(text('A')), user(result('a'))]).items).toEqual([
      ASK,
      wireCall('a'),
      { role: 'assistant', content: [said('A')] },
      wireOutput('a'),
    ])
  })

  test('a final assistant turn is marked as complete, so that the model does not continue it', () => {
    expect(encode([go, assistant(text('A'))]).features).toEqual(['prefill'])
  })

  test('a picture of an assistant turn is sent as user content', () => {
    const image: UserBlock = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } }
    expect(encode([go, assistant(image), go]).items).toEqual([
      ASK,
      { role: 'assistant', content: [said('[1 attached file(s) follow in the next user message]')] },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Files from your last message:' },
          { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
          { type: 'input_text', text: 'go' },
        ],
      },
    ])
  })
})

describe('ids of calls', () => {
  test('call ids that are used again are made unique, and long ids are shortened, deterministically', () => {
    const long = 'x'.repeat(80)
    const turns = [
      go,
      assistant(call('call_0'), call(long)),
      user(result('call_0', 'one'), result(long)),
      assistant(call('call_0')),
      user(result('call_0', 'two')),
    ]
    const { items } = encode(turns)
    const ids = items.flatMap((item) => ('call_id' in item ? [String(item.call_id)] : []))
    const [first, second, , , third] = ids
    expect(ids).toEqual([first, second, first, second, third, third] as string[])
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(items.at(-1)).toMatchObject({ output: 'two' })
    expect(encode(turns).items).toEqual(items)
  })
})

describe('user content', () => {
  const file = (source: FileBlock['source'], filename?: string): FileBlock => ({
    type: 'file',
    source,
    ...(filename && { filename }),
  })
  test.each<[string, UserBlock, object]>([
    [
      'an address of a picture',
      { type: 'image', source: { type: 'url', url: 'https://a/b' }, detail: 'low' },
      { type: 'input_image', image_url: 'https://a/b', detail: 'low' },
    ],
    [
      'a picture known by id',
      { type: 'image', source: { type: 'file-id', id: 'file_1', format: 'responses' } },
      { type: 'input_image', file_id: 'file_1', detail: 'auto' },
    ],
    [
      'a PDF',
      file({ type: 'base64', mediaType: 'application/pdf', data: 'JVBE' }),
      { type: 'input_file', filename: 'file.pdf', file_data: 'data:application/pdf;base64,JVBE' },
    ],
    [
      'an address of a file',
      file({ type: 'url', url: 'https://a/b.pdf' }),
      { type: 'input_file', file_url: 'https://a/b.pdf' },
    ],
    [
      'a text',
      file({ type: 'base64', mediaType: 'text/plain', data: 'aGk=' }, 'a.txt'),
      { type: 'input_text', text: '<document name="a.txt">\nhi\n</document>' },
    ],
    [
      'a picture as a file',
      file({ type: 'base64', mediaType: 'image/png', data: 'aGk=' }),
      { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
    ],
    [
      'sound',
      { type: 'audio', mediaType: 'audio/mpeg', data: 'aGk=' },
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
    ],
  ])('user content is encoded: %s', (_, block, part) => {
    expect(encode([user(text('see'), block)]).items).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'see' }, part] },
    ] as object[] as never)
  })

  test.each<[string, UserBlock]>([
    ['a video', file({ type: 'base64', mediaType: 'video/mp4', data: 'aGk=' })],
    ['sound of another kind', { type: 'audio', mediaType: 'audio/ogg', data: 'aGk=' }],
    ['a file of another provider', file({ type: 'file-id', id: 'f', format: 'messages' })],
  ])('user content that is %s is refused', (_, block) => {
    expect(() => encode([user(block)])).toThrow()
  })

  test('pictures of users and of tools are sent', () => {
    const block: UserBlock = {
      ...{ type: 'tool-result', callId: 'a', isError: true },
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', source: { type: 'url', url: 'https://a/b' } },
      ],
    }
    expect(encode([go, assistant(call('a')), user(block)]).items.at(-1)).toEqual(
      wireOutput('a', [
        { type: 'input_text', text: 'Error:' },
        { type: 'input_text', text: 'see' },
        { type: 'input_image', image_url: 'https://a/b', detail: 'auto' },
      ]) as never,
    )
  })

  test('a later system message becomes an instruction', () => {
    expect(encode([go, { role: 'system', content: [{ type: 'text', text: 'Now.' }] }]).items).toEqual([
      ASK,
      { role: 'developer', content: 'Now.' },
    ])
  })
})
