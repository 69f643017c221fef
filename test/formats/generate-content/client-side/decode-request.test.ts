/** generate-content requests of real clients, decoded. */
import { describe, expect, test } from 'bun:test'
import { decode, readJsonFixture } from '@test/formats/generate-content/support'
import { generateContent } from '@/formats/generate-content/index'

describe('whole requests', () => {
  test('a request of Gemini CLI is decoded: ids, thoughts, a base64url signature, an error result', () => {
    const request = generateContent.decodeRequest(readJsonFixture('gemini-cli-request.json'), {
      model: 'svc/foo',
      stream: true,
    })
    expect(request).toMatchObject({
      model: 'svc/foo',
      stream: true,
      system: [{ type: 'text', text: 'You are an interactive CLI agent.' }],
      sampling: { temperature: 1, topP: 0.95, topK: 64 },
      reasoning: { visible: true },
      choices: 1,
      wantsUsage: true,
      fallback: [],
      extensions: {},
    })
    expect(request.nativeOnly).toBeUndefined()
    expect(request.tools.map((tool) => tool.name)).toEqual(['read_file', 'list_skills'])
    expect(request.turns).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'This is the Gemini CLI. Context follows.' },
          { type: 'text', text: 'read two files' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '**Reading**' },
          {
            type: 'tool-call',
            id: 'read_file_1795240403063_0',
            name: 'read_file',
            argumentsText: '{"absolute_path":"/a","line_limit":5}',
            signature: { format: 'generate-content', value: 'CiQB0e2Kb+/8AQ==' },
          },
          {
            type: 'tool-call',
            id: 'read_file_1795240403063_1',
            name: 'read_file',
            argumentsText: '{"absolute_path":"/b"}',
          },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool-result',
            callId: 'read_file_1795240403063_0',
            name: 'read_file',
            content: [{ type: 'text', text: 'alpha' }],
            json: { output: 'alpha' },
            isError: false,
          },
          {
            type: 'tool-result',
            callId: 'read_file_1795240403063_1',
            name: 'read_file',
            content: [{ type: 'text', text: 'File not found.' }],
            json: { error: 'File not found.' },
            isError: true,
          },
        ],
      },
    ])
  })

  test('snake_case is read at every level, and names chosen by the caller are unchanged', () => {
    const body = readJsonFixture('snake-case-request.json')
    const before = structuredClone(body)
    const request = generateContent.decodeRequest(body, { model: 'svc/foo' })
    expect(body).toEqual(before)
    expect(request).toMatchObject({
      stream: false,
      system: [{ type: 'text', text: 'Be brief.' }],
      maxOutputTokens: 64,
      sampling: { stop: ['END'] },
      choices: 2,
      reasoning: { effort: 'none' },
      toolChoice: { type: 'tool', name: 'look_up' },
      tools: [{ name: 'look_up', parameters: { type: 'object', properties: { some_key: { type: 'integer' } } } }],
    })
    expect(request.output).toEqual({
      type: 'json-schema',
      schema: {
        type: 'object',
        properties: {
          first_name: { type: ['string', 'null'], minLength: 1 },
          tags: { type: 'array', items: { type: 'integer', format: 'int32' }, maxItems: 3 },
        },
        required: ['first_name'],
      },
    })
    expect(request.turns.map((turn) => turn.role)).toEqual(['user', 'assistant', 'user'])
    expect(request.turns[0]?.content[0]).toEqual({
      type: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
    })
    expect(request.turns[1]?.content).toEqual([
      {
        type: 'tool-call',
        id: 'call_1_0',
        name: 'look_up',
        argumentsText: '{"some_key":1,"nested_map":{"other_key":2}}',
        signature: { format: 'generate-content', value: 'c2ln' },
      },
    ])
    expect(request.turns[2]?.content).toEqual([
      {
        type: 'tool-result',
        callId: 'call_1_0',
        name: 'look_up',
        content: [{ type: 'text', text: '{"some_result":[1,{"deep_key":true}]}' }],
        json: { some_result: [1, { deep_key: true }] },
        isError: false,
      },
    ])
    expect(request.extensions['generate-content']).toEqual({
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    })
  })
})

test('decoded sampling has only the fields that the request sets', () => {
  const sampling = (generationConfig?: object) => decode({ generationConfig } as never).sampling
  expect(sampling()).toEqual({})
  expect(sampling({ seed: 0 })).toEqual({ seed: 0 })
  expect(sampling({ topK: 0, stopSequences: [] })).toEqual({})
})

describe('contents', () => {
  const text = (value: string) => ({ type: 'text' as const, text: value })

  test.each([
    ['a bare text', 'Hi'],
    ['one content', { parts: [{ text: 'Hi' }] }],
    ['one content with one part', { role: 'user', parts: { text: 'Hi' } }],
    ['a text for parts', [{ parts: 'Hi' }]],
    ['the role of old clients', [{ role: 'function', parts: [{ text: 'Hi' }] }]],
  ])('contents given as %s become a user turn', (_, contents) => {
    expect(decode({ contents }).turns).toEqual([{ role: 'user', content: [text('Hi')] }])
  })

  test.each([
    ['a text', 'Be brief.'],
    ['a part', { text: 'Be brief.' }],
    ['parts', [{ text: 'Be brief.' }]],
    ['a content with one part', { parts: { text: 'Be brief.' } }],
    ['a content', { role: 'system', parts: [{ text: 'Be brief.' }, { text: '' }] }],
  ])('a system instruction given as %s is decoded', (_, systemInstruction) => {
    expect(decode({ systemInstruction }).system).toEqual([text('Be brief.')])
  })

  test('a streamed answer that a client sends back in parts becomes one turn, joined up to the signature', () => {
    const { turns } = decode({
      contents: [
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [{ text: 'I ', thought: true }] },
        {
          role: 'model',
          parts: [
            { text: 'think', thought: true },
            { text: '', thought: true, thoughtSignature: 'dGg=' },
          ],
        },
        { role: 'model', parts: [{ text: 'again', thought: true }] },
        { role: 'model', parts: [{ text: 'Hel' }] },
        { role: 'model', parts: [{ text: 'lo' }, { text: '', thoughtSignature: 'dHh0' }] },
        { role: 'model', parts: [{ text: '' }] },
      ],
    })
    expect(turns[1]?.content).toEqual([
      { type: 'reasoning', text: 'I think', signature: { format: 'generate-content', value: 'dGg=' } },
      { type: 'reasoning', text: 'again' },
      { type: 'text', text: 'Hello', signature: { format: 'generate-content', value: 'dHh0' } },
    ])
  })

  test('media is decoded by type, URL, and the provider’s own file id', () => {
    const parts = [
      { inlineData: { mimeType: 'audio/wav', data: 'AA==' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
      { fileData: { fileUri: 'https://example.com/a/cat.JPG?size=2' } },
      { fileData: { fileUri: 'https://example.com/v1beta/files/abc', mimeType: 'image/png' } },
      { fileData: { fileUri: 'gs://bucket/report.pdf', mimeType: 'application/pdf' } },
      { fileData: { fileUri: 'https://example.com/cat.mov' } },
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=abc' } },
    ]
    expect(decode({ contents: [{ parts }] }).turns[0]?.content).toEqual([
      { type: 'audio', mediaType: 'audio/wav', data: 'AA==' },
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a/cat.JPG?size=2' } },
      {
        type: 'image',
        source: { type: 'file-id', id: 'https://example.com/v1beta/files/abc', format: 'generate-content' },
      },
      { type: 'file', source: { type: 'file-id', id: 'gs://bucket/report.pdf', format: 'generate-content' } },
      { type: 'file', source: { type: 'url', url: 'https://example.com/cat.mov', mediaType: 'video/quicktime' } },
      { type: 'file', source: { type: 'url', url: 'https://www.youtube.com/watch?v=abc', mediaType: 'video/mp4' } },
    ])
  })

  test('null counts as missing everywhere in a request', () => {
    const request = decode({
      contents: [{ role: null, parts: [{ text: 'Hi', functionCall: null, thoughtSignature: null }] }],
      systemInstruction: null,
      generationConfig: { temperature: null, maxOutputTokens: null, thinkingConfig: null },
      tools: null,
      fallback: null,
    })
    expect(request).toMatchObject({ system: [], sampling: {}, turns: [{ role: 'user', content: [text('Hi')] }] })
    expect(request.maxOutputTokens).toBeUndefined()
  })
})
