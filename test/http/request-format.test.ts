/** The format of an error or a body if the route does not determine it. */
import { describe, expect, test } from 'bun:test'
import type { FormatName } from '@/chat/format-name'
import { FORMATS } from '@/formats/index'
import { formatOfBody, formatOfRequest } from '@/http/request-format'
import type { JsonObject } from '@/lib/json'

const MESSAGES = { 'anthropic-version': '2023-06-01' }
const GENERATE = { 'x-goog-api-key': 'key' }

describe('the format of a request', () => {
  const cases: [format: FormatName, path: string, headers?: Record<string, string>][] = [
    ['chat-completions', '/v1/chat/completions/x'],
    ['chat-completions', '/chat/completions'],
    ['messages', '/v1/messages/batches'],
    ['messages', '/v1/v1/messages'],
    ['messages', '/messages'],
    ['generate-content', '/v1beta/anything'],
    ['generate-content', '/v1alpha/models'],
    ['generate-content', '/models/svc%2Falpha%3Aembed'],
    ['generate-content', '/v1/models/svc/alpha:batchEmbed/'],
    // A path that says it is believed before headers do.
    ['messages', '/v1/messages/nothing', GENERATE],
    ['generate-content', '/v1beta/nothing', MESSAGES],
    ['chat-completions', '/v1/chat/nothing', MESSAGES],
    // Shared and unheard-of paths are told by headers, where they say it.
    ['messages', '/v1/models/none', MESSAGES],
    ['generate-content', '/v1/models/none', GENERATE],
    ['generate-content', '/v1/nothing', { 'x-goog-api-client': 'genai-js/3' }],
    ['chat-completions', '/v1/models/none'],
    ['chat-completions', '/v1/messagesandmore'],
    ['chat-completions', '/', { 'x-api-key': 'key', authorization: 'Bearer key' }],
  ]
  test.each(cases)('the format of a request is recognized as %s: %s %j', (name, path, headers = {}) => {
    expect(formatOfRequest(FORMATS, path, new Headers(headers)).name).toBe(name)
  })
})

describe('the format of a body', () => {
  const USER = { role: 'user', content: 'Hi' }
  const partOf = (type: string) => ({ messages: [{ role: 'user', content: [{ type }] }] })
  const cases: [format: FormatName, body: JsonObject, headers?: Record<string, string>][] = [
    ['chat-completions', { messages: [USER] }],
    ['chat-completions', {}],
    ['chat-completions', partOf('image_url')],
    ['chat-completions', { messages: [{ content: [{ type: { toString: 1 } }] }] }],
    ['chat-completions', { messages: [USER], thinking: { type: 'enabled' } }],
    ['chat-completions', { messages: [USER], tools: [{ type: 'function', function: { name: 'f' } }] }],
    // A key may come in any header.
    ['chat-completions', { messages: [USER] }, GENERATE],
    ['messages', { messages: [USER] }, MESSAGES],
    ['messages', { messages: [USER], system: 'Be brief.' }],
    ['messages', { messages: [USER], stop_sequences: ['x'] }],
    ['messages', { messages: [USER], output_config: {} }],
    ['messages', { messages: [USER], tools: [{ name: 'f', input_schema: {} }] }],
    ...['image', 'document', 'tool_use', 'tool_result', 'thinking'].map((type): [FormatName, JsonObject] => [
      'messages',
      partOf(type),
    ]),
    ['generate-content', { contents: [] }],
  ]
  test.each(cases)('the format of a body is recognized as %s: %j %j', (name, body, headers = {}) => {
    expect(formatOfBody(FORMATS, body, new Headers(headers)).name).toBe(name)
  })
})
