/** Requests of other formats, encoded for generate-content providers. */
import { describe, expect, test } from 'bun:test'
import { chatRequest, encode, refusalOf, traits } from '@test/formats/generate-content/support'
import type { ModelBlock, TextBlock, ToolResultBlock, Turn, UserBlock } from '@/chat/request'
import { generateContent } from '@/formats/generate-content/index'

const text = (value: string): TextBlock => ({ type: 'text', text: value })
const call = (id: string, name: string, argumentsText = ''): ModelBlock => ({
  type: 'tool-call',
  id,
  name,
  argumentsText,
})
const result = (callId: string, content: ToolResultBlock['content'], isError = false): UserBlock => ({
  type: 'tool-result',
  callId,
  content,
  isError,
})
const user = (...content: UserBlock[]): Turn => ({ role: 'user', content })
const model = (...content: ModelBlock[]): Turn => ({ role: 'assistant', content })
const png = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA==' } } as const

function contentsOf(turns: Turn[], ...quirks: string[]) {
  return encode({ turns }, ...quirks).contents
}

describe('contents', () => {
  test('adjacent turns of one role are one content; empty texts are dropped', () => {
    expect(contentsOf([user(text('a')), user(text(''), text('b')), model(text('')), model(text('c'))])).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'c' }] },
    ])
  })

  test('the system prompt is sent without the client’s note to its own vendor', () => {
    const system = ['x-anthropic-billing-header: cc_version=2.1', 'Be brief.', '', 'Be kind.'].map((value) => ({
      type: 'text' as const,
      text: value,
    }))
    expect(encode({ system }).systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] })
  })

  test('a later system turn is marked user text', () => {
    expect(contentsOf([user(text('a')), { role: 'system', content: [text('now')] }])).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: '<system>now</system>' }] },
    ])
  })

  test('a system prompt without turns becomes the user’s turn; an empty request is refused', () => {
    expect(encode({ system: [{ type: 'text', text: 'Hi' }], turns: [] })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    })
    expect(refusalOf(() => encode({ turns: [user(text(''))] })).param).toBe('messages')
  })

  test('tool results are one content with one part per call, in the order of the calls', () => {
    const turns = [
      user(text('go')),
      model(call('1', 'a', '{"x":1}'), call('2', 'b'), call('3', 'a', 'not json')),
      user(result('3', [text('third')]), text('and now?')),
      user(result('1', [text('{"rows":[1]}')]), result('2', [text('broken')], true)),
    ]
    expect(contentsOf(turns)).toEqual([
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: '1', name: 'a', args: { x: 1 } } },
          { functionCall: { id: '2', name: 'b', args: {} } },
          { functionCall: { id: '3', name: 'a', args: { input: 'not json' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: '1', name: 'a', response: { rows: [1] } } },
          { functionResponse: { id: '2', name: 'b', response: { error: 'broken' } } },
          { functionResponse: { id: '3', name: 'a', response: { output: 'third' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'and now?' }] },
    ])
  })

  test('a tool call without a result gets one; a result without a call becomes text', () => {
    const { body, warnings } = generateContent.encodeRequest(
      chatRequest({ turns: [user(text('a')), model(call('1', 'a')), user(result('9', [text('late')]))] }),
      traits(),
    )
    expect((body.contents as unknown[]).slice(2)).toEqual([
      {
        role: 'user',
        parts: [{ functionResponse: { id: '1', name: 'a', response: { error: 'The call was not answered.' } } }],
      },
      { role: 'user', parts: [{ text: 'Result of a function: late' }] },
    ])
    expect(warnings.map((warning) => warning.feature)).toEqual(['tool-result'])
    expect(contentsOf([user(text('a')), model(call('1', 'a'))])).toHaveLength(3)
  })

  test('a history that begins with a tool call gets a user text before it', () => {
    expect(contentsOf([model(call('1', 'a')), user(result('1', [text('x')]))])).toMatchObject([
      { role: 'user', parts: [{ text: 'Continue.' }] },
      { role: 'model' },
      { role: 'user' },
    ])
  })

  test('pictures of tool results follow all results, or are inside them if the provider allows that', () => {
    const turns = [
      user(text('a')),
      model(call('1', 'a'), call('2', 'b')),
      user(result('1', [png]), result('2', [text('x')])),
    ]
    expect((contentsOf(turns) as unknown[]).slice(2)).toEqual([
      {
        role: 'user',
        parts: [
          { functionResponse: { id: '1', name: 'a', response: { output: '[image]' } } },
          { functionResponse: { id: '2', name: 'b', response: { output: 'x' } } },
        ],
      },
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
    ])
    expect((contentsOf(turns, 'function-response-parts') as unknown[]).slice(2)).toMatchObject([
      {
        parts: [
          { functionResponse: { parts: [{ inlineData: { data: 'AA==' } }] } },
          { functionResponse: { name: 'b' } },
        ],
      },
    ])
  })

  test('call ids are omitted for a provider that refuses them', () => {
    expect(JSON.stringify(contentsOf([model(call('1', 'a')), user(result('1', []))], 'no-call-ids'))).not.toContain(
      '"id"',
    )
  })
})

describe('signatures', () => {
  const own = { format: 'generate-content', value: 'c2ln' } as const
  const foreign = { format: 'messages', value: 'ErUB' } as const
  const callOf = (id: string, signature?: typeof own | typeof foreign): ModelBlock => ({
    type: 'tool-call',
    id,
    name: 'a',
    argumentsText: '',
    ...(signature && { signature }),
  })
  const partsOf = (blocks: ModelBlock[], ...quirks: string[]) => {
    const contents = contentsOf([user(text('a')), model(...blocks)], ...quirks) as { parts: object[] }[]
    return contents[1]?.parts
  }

  test('the provider’s own signatures are sent in their places', () => {
    const thought: ModelBlock = { type: 'reasoning', text: 'hm', signature: own }
    const said: ModelBlock = { type: 'text', text: '', signature: own }
    expect(partsOf([thought, said, callOf('1', own)])).toEqual([
      { text: 'hm', thought: true, thoughtSignature: 'c2ln' },
      { text: '', thoughtSignature: 'c2ln' },
      { functionCall: { id: '1', name: 'a', args: {} }, thoughtSignature: 'c2ln' },
    ])
  })

  test('signatures of other providers are never sent, nor the thoughts that they sign', () => {
    const blocks: ModelBlock[] = [
      { type: 'reasoning', text: 'hm', signature: foreign },
      { type: 'reasoning', text: '', redacted: foreign },
      { type: 'reasoning', text: 'unsigned' },
      { type: 'text', text: 'x', signature: foreign },
      callOf('1', foreign),
    ]
    expect(partsOf(blocks)).toEqual([{ text: 'x' }, { functionCall: { id: '1', name: 'a', args: {} } }])
  })

  test('if the provider requires signatures, the first call of a step without one skips the check', () => {
    const signatures = (blocks: ModelBlock[]) =>
      partsOf(blocks, 'thought-signatures')?.map((part) => ('thoughtSignature' in part ? part.thoughtSignature : null))
    expect(signatures([callOf('1', foreign), callOf('2')])).toEqual(['skip_thought_signature_validator', null])
    expect(signatures([callOf('1', own), callOf('2')])).toEqual(['c2ln', null])
    expect(signatures([text('no call')])).toEqual([null])
  })
})

describe('media', () => {
  test('media that the model made gets the value that skips the signature check', () => {
    const turns = [user(text('a horse')), model(png), user(text('make it red'))]
    const { contents } = generateContent.encodeRequest(chatRequest({ turns }), traits('thought-signatures')).body
    expect(contents).toContainEqual({
      role: 'model',
      parts: [expect.objectContaining({ thoughtSignature: 'skip_thought_signature_validator' })],
    })
  })

  test('media bytes are sent', () => {
    const blocks: UserBlock[] = [
      png,
      {
        type: 'file',
        source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' },
        filename: 'a.pdf',
        context: 'A report',
      },
      { type: 'file', source: { type: 'text', text: 'ünï', mediaType: 'text/plain' } },
      { type: 'audio', mediaType: 'audio/wav', data: 'UklG' },
    ]
    expect(contentsOf([user(...blocks)])).toEqual([
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: 'AA==' } },
          { text: 'A report' },
          { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
          { inlineData: { mimeType: 'text/plain', data: 'w7xuw68=' } },
          { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
        ],
      },
    ])
  })

  test('a media URL is refused, or sent to a provider that fetches URLs; the gateway never fetches one', () => {
    const turns = [user({ type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } })]
    expect(refusalOf(() => contentsOf(turns)).message).toContain('does not fetch addresses')
    expect(contentsOf(turns, 'file-uri')).toMatchObject([
      { parts: [{ fileData: { fileUri: 'https://example.com/cat.png', mimeType: 'image/png' } }] },
    ])
  })

  test('only this format’s own file ids are sent', () => {
    const turnOf = (format: 'messages' | 'generate-content') => [
      user({ type: 'file', source: { type: 'file-id', id: 'files/1', format } }),
    ]
    expect(refusalOf(() => contentsOf(turnOf('messages'))).message).toContain('file id')
    expect(contentsOf(turnOf('generate-content'))).toMatchObject([{ parts: [{ fileData: { fileUri: 'files/1' } }] }])
  })
})

describe('fields that the format does not support', () => {
  test('fields that the format does not support give a warning', () => {
    const request = chatRequest({ parallelToolCalls: false, userId: 'u', serviceTier: 'priority', cacheKey: 'k' })
    const { body, warnings } = generateContent.encodeRequest(request, traits())
    expect(warnings.map((warning) => warning.feature)).toEqual([
      'userId',
      'cacheKey',
      'serviceTier',
      'parallelToolCalls',
    ])
    expect(Object.keys(body)).toEqual(['contents'])
  })

  test('fields that only another format’s provider supports are refused', () => {
    expect(refusalOf(() => encode({ nativeOnly: ['tools[0] (web_search)'] }))).toMatchObject({ param: 'tools[0]' })
  })
})
