/** Complete answers of messages providers, decoded. */
import { describe, expect, test } from 'bun:test'
import { readFixture } from '@test/formats/messages/support'
import { messages } from '@/formats/messages/index'
import { type JsonObject, type JsonValue, parseJson } from '@/lib/json'

const fixture = parseJson(readFixture('thinking-tools-response.json')) as JsonObject

describe('decoding a message', () => {
  test('thinking and tools are decoded', () => {
    expect(messages.decodeResponse(fixture)).toEqual({
      id: 'msg_01Tools',
      created: 0,
      model: 'upstream-model',
      choices: [
        {
          index: 0,
          content: [
            {
              type: 'reasoning',
              text: 'Two cities, two calls.',
              ...{ signature: { format: 'messages', value: 'EqQBCgIYAhIM+/8=' } },
            },
            { type: 'reasoning', text: '', redacted: { format: 'messages', value: 'EmwKAhgBEgy3va3pzix=' } },
            { type: 'text', text: "I'll look." },
            { type: 'tool-call', id: 'toolu_01A', name: 'get_weather', argumentsText: '{"city":"Budapest"}' },
            { type: 'tool-call', id: 'toolu_01C', name: 'get_time', argumentsText: '{}' },
          ],
          finish: { kind: 'tool-calls', raw: 'tool_use' },
        },
      ],
      usage: { uncached: 402, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 90, reasoning: 30 },
      serviceTier: 'standard',
    })
  })

  test.each<[JsonValue]>([
    [null],
    ['<html>'],
    [[]],
    [{}],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'x' } }],
    [{ object: 'chat.completion', choices: [] }],
    [{ candidates: [] }],
    [{ type: 'message', content: 'text' }],
    [{ content: [] }],
  ])('%j is not read as a message', (body) => {
    expect(messages.decodeResponse(body)).toBeUndefined()
  })

  test('a message without usage, model or known blocks is decoded', () => {
    expect(messages.decodeResponse({ type: 'message', content: [3, { type: 'server_tool_use' }] })).toMatchObject({
      id: '',
      model: '',
      choices: [{ content: [], finish: { kind: 'stop' } }],
      usage: null,
    })
  })
})
