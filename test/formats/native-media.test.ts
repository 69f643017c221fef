/** Pictures and files in results of a provider's own tools are read and counted like any others, never as text bytes. */
import { describe, expect, test } from 'bun:test'
import { PAGE_TOKENS, pages } from '@test/catalog/media/sample-pdfs'
import { inputBound, measurePrompt } from '@/catalog/estimate'
import { COUNTED_TOKENS_MAX, IMAGE_TOKENS_MAX } from '@/catalog/media/media-size'
import type { FormatName } from '@/chat/format-name'
import { FORMATS } from '@/formats'
import type { JsonObject, JsonValue } from '@/lib/json'

const PAGES = 40
/** Dense: each page of it is read as thousands of tokens, and takes a few hundred bytes. */
const PDF = pages(PAGES).toString('base64')
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const CONTEXT = 1_000_000
const PDF_TOKENS = PAGES * PAGE_TOKENS
const LINK = 'https://files.example.test/report'

const user = { role: 'user', content: 'Hi' }

function bodyOf(format: FormatName, part: JsonObject): JsonObject {
  switch (format) {
    case 'responses':
      return { model: 'm', input: [user, part, user] }
    case 'messages':
      return { model: 'm', max_tokens: 9, messages: [user, { role: 'assistant', content: [part] }, user] }
    case 'generate-content':
      return { contents: [{ role: 'model', parts: [part] }] }
    case 'chat-completions':
      return { model: 'm', messages: [user, part, user] }
  }
}

function boundOf(format: FormatName, part: JsonObject): number {
  const body = bodyOf(format, part)
  const request = FORMATS.get(format)?.decodeRequest(body, { model: 'm', stream: false })
  if (!request) throw new Error(format)
  const prompt = measurePrompt(request)
  return inputBound(prompt, JSON.stringify(body).length, CONTEXT)
}

const fetched = (source: JsonValue, type = 'document') => ({
  type: 'web_fetch_tool_result',
  tool_use_id: 'x',
  content: { type: 'web_fetch_result', url: LINK, content: { type, source } },
})

const SAMPLES: [string, FormatName, JsonObject, number][] = [
  ['a fetched PDF', 'messages', fetched({ type: 'base64', media_type: 'application/pdf', data: PDF }), PDF_TOKENS],
  ['a fetched address', 'messages', fetched({ type: 'url', url: LINK }), CONTEXT],
  ['a fetched picture', 'messages', fetched({ type: 'url', url: LINK }, 'image'), IMAGE_TOKENS_MAX],
  [
    'a picture that code drew',
    'messages',
    {
      type: 'mcp_tool_result',
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }],
    },
    IMAGE_TOKENS_MAX,
  ],
  [
    'a PDF in an unknown block of a result',
    'messages',
    { type: 'novel', content: [{ type: 'x', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }] },
    PDF_TOKENS,
  ],
  ['a generated picture', 'responses', { type: 'image_generation_call', id: 'x', result: PIXEL }, IMAGE_TOKENS_MAX],
  [
    'a picture that code drew',
    'responses',
    { type: 'code_interpreter_call', id: 'x', code: '', outputs: [{ type: 'image', url: LINK }] },
    IMAGE_TOKENS_MAX,
  ],
  [
    'a screenshot',
    'responses',
    { type: 'computer_call_output', call_id: 'x', output: { type: 'computer_screenshot', image_url: LINK } },
    IMAGE_TOKENS_MAX,
  ],
  [
    'a file of a tool',
    'responses',
    { type: 'mcp_call', id: 'x', output: [{ type: 'input_file', file_data: `data:application/pdf;base64,${PDF}` }] },
    PDF_TOKENS,
  ],
  [
    'an address of a file',
    'responses',
    { type: 'mcp_call', id: 'x', output: [{ type: 'input_file', file_url: LINK }] },
    CONTEXT,
  ],
  [
    'bytes without a stated kind',
    'responses',
    { type: 'mcp_call', id: 'x', output: [{ type: 'input_file', file_data: 'AAAA' }] },
    CONTEXT,
  ],
  [
    'a PDF',
    'generate-content',
    { toolResponse: { id: 'x', parts: [{ inlineData: { mimeType: 'application/pdf', data: PDF } }] }, text: 'So.' },
    PDF_TOKENS,
  ],
  [
    'an address of a file',
    'generate-content',
    { toolResponse: { id: 'x', file: { fileUri: LINK } }, text: 'So.' },
    CONTEXT,
  ],
  ['sound that the model spoke', 'chat-completions', { role: 'assistant', content: '', audio: { id: 'a' } }, CONTEXT],
]

describe.each(SAMPLES)('%s in the history of %s', (_, format, part, tokens) => {
  test('media that only this provider’s format reads is reserved once, by its kind', () => {
    const bound = boundOf(format, part)
    expect(bound).toBeGreaterThanOrEqual(tokens)
    expect(bound).toBeLessThan(Math.min(2 * tokens, tokens + COUNTED_TOKENS_MAX / 2))
  })
})

test('a URL that is only mentioned counts as text', () => {
  const search = { type: 'web_search_result', url: LINK, title: 'T', encrypted_content: 'x' }
  const found = { type: 'web_search_tool_result', tool_use_id: 'x', content: [search] }
  expect(boundOf('messages', found)).toBeLessThan(1_000)
  const call = { type: 'web_search_call', id: 'x', action: { type: 'open_page', url: LINK } }
  expect(boundOf('responses', call)).toBeLessThan(1_000)
})

test('a file stored at the provider has an unknown size', () => {
  const output = { type: 'computer_screenshot', file_id: 'file_1' }
  expect(() => boundOf('responses', { type: 'computer_call_output', call_id: 'x', output })).toThrow('by id')
  expect(() => boundOf('messages', fetched({ type: 'file', file_id: 'file_1' }))).toThrow('by id')
  // A result that names what its tool wrote is not read.
  const written = { type: 'code_execution_output', file_id: 'file_1' }
  expect(boundOf('messages', { type: 'code_execution_tool_result', content: [written] })).toBeLessThan(1_000)
})
