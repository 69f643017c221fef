/** The limits of a chat-completions request, and their error texts. */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '@/chat/error'
import { decodeRequest } from '@/formats/chat-completions/client-side/decode-request'
import { LIMITS } from '@/formats/chat-completions/limits'
import type { JsonObject } from '@/lib/json'

const USER: JsonObject = { role: 'user', content: 'hi' }

describe('errors for values beyond their limits', () => {
  const cases: [fields: JsonObject, param: string, message: string][] = [
    [{ model: undefined }, 'model', 'model is required'],
    [{ model: '' }, 'model', 'model must be a non-empty string of at most 256 characters'],
    [{ model: 5 }, 'model', 'model must be a non-empty string of at most 256 characters'],
    [{ model: null }, 'model', 'model must be a non-empty string of at most 256 characters'],
    [{ messages: undefined }, 'messages', 'messages is required'],
    [{ messages: 'hi' }, 'messages', 'messages must be an array of 1 to 100 items'],
    [{ messages: [] }, 'messages', 'messages must be an array of 1 to 100 items'],
    [{ messages: Array(101).fill(USER) }, 'messages', 'messages must be an array of 1 to 100 items'],
    [{ messages: [USER, null] }, 'messages[1]', 'messages[1] must be an object'],
    [{ messages: [{ content: 'x' }] }, 'messages[0].role', 'messages[0].role is required'],
    [
      { messages: [{ role: 'robot', content: 'x' }] },
      'messages[0].role',
      'messages[0].role must be one of system, developer, user, assistant, tool, function',
    ],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content', 'messages[0].content is required'],
    [{ messages: [{ role: 'system', content: null }] }, 'messages[0].content', 'messages[0].content is required'],
    [
      { messages: [{ role: 'user', content: 5 }] },
      'messages[0].content',
      'messages[0].content must be a string or an array of at most 4096 items',
    ],
    [
      { messages: [USER, { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'text' }] }] },
      'messages[1].content[1].text',
      'messages[1].content[1].text is required',
    ],
    [
      { messages: [{ role: 'user', content: [{ text: 'a' }] }] },
      'messages[0].content[0].type',
      'messages[0].content[0].type is required',
    ],
    [
      { messages: [{ role: 'tool', content: 'x' }] },
      'messages[0].tool_call_id',
      'messages[0].tool_call_id is required',
    ],
    [{ temperature: 2.1 }, 'temperature', 'temperature must be a number from 0 to 2'],
    [{ temperature: -0.1 }, 'temperature', 'temperature must be a number from 0 to 2'],
    [{ temperature: '1' }, 'temperature', 'temperature must be a number from 0 to 2'],
    [{ temperature: Number.POSITIVE_INFINITY }, 'temperature', 'temperature must be a number from 0 to 2'],
    [{ top_p: 1.01 }, 'top_p', 'top_p must be a number from 0 to 1'],
    [{ max_tokens: 128_001 }, 'max_tokens', 'max_tokens must be an integer from 1 to 128000'],
    [{ max_tokens: 0 }, 'max_tokens', 'max_tokens must be an integer from 1 to 128000'],
    [{ max_tokens: -1 }, 'max_tokens', 'max_tokens must be an integer from 1 to 128000'],
    [{ max_tokens: 1.5 }, 'max_tokens', 'max_tokens must be an integer from 1 to 128000'],
    [{ max_tokens: '5' }, 'max_tokens', 'max_tokens must be an integer from 1 to 128000'],
    [{ max_tokens: 2 ** 53 }, 'max_tokens', 'max_tokens must be an integer from 1 to 128000'],
    [
      { max_completion_tokens: 1e9 },
      'max_completion_tokens',
      'max_completion_tokens must be an integer from 1 to 128000',
    ],
    [
      { max_tokens: 5, max_completion_tokens: 6 },
      'max_tokens',
      'max_tokens and max_completion_tokens must not differ; send only one of them',
    ],
    [{ n: 0 }, 'n', 'n must be an integer from 1 to 16'],
    [{ n: 17 }, 'n', 'n must be an integer from 1 to 16'],
    [{ seed: 2 ** 60 }, 'seed', 'seed must be an integer from -9007199254740991 to 9007199254740991'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', 'stop must be an array of at most 4 items'],
    [{ stop: [1] }, 'stop[0]', 'stop[0] must be a string'],
    [{ stop: 5 }, 'stop', 'stop must be a string or an array of at most 4 items'],
    [{ top_logprobs: 21 }, 'top_logprobs', 'top_logprobs must be an integer from 0 to 20'],
    [{ frequency_penalty: 3 }, 'frequency_penalty', 'frequency_penalty must be a number from -2 to 2'],
    [{ stream: 'true' }, 'stream', 'stream must be true or false'],
    [{ stream: 1 }, 'stream', 'stream must be true or false'],
    [{ stream_options: true }, 'stream_options', 'stream_options must be an object'],
    [{ stream_options: [] }, 'stream_options', 'stream_options must be an object'],
    [{ fallback: 'svc/beta' }, 'fallback', 'fallback must be an array of at most 8 items'],
    [{ fallback: Array(9).fill('svc/beta') }, 'fallback', 'fallback must be an array of at most 8 items'],
    [{ fallback: ['svc/beta', ''] }, 'fallback[1]', 'fallback[1] must be a non-empty string of at most 256 characters'],
    [{ tools: Array(129).fill({ type: 'function' }) }, 'tools', 'tools must be an array of at most 128 items'],
    [{ tools: [{ function: {} }] }, 'tools[0].function.name', 'tools[0].function.name is required'],
    [
      { response_format: { type: 'json_schema' } },
      'response_format.json_schema',
      'response_format.json_schema is required',
    ],
  ]
  for (const [fields, param, message] of cases) {
    test(`${message} (${shorten(fields)})`, () => {
      expect(refusal({ model: 'svc/alpha', messages: [USER], ...fields })).toEqual({ param, message })
    })
  }

  test('the error for a refused field never repeats a big value', () => {
    const { message } = refusal({ model: 'x'.repeat(100_000), messages: [USER], stop: 'y'.repeat(100_000) })
    expect(message.length).toBeLessThan(200)
  })

  test('a value exactly at its limit is accepted', () => {
    const request = decodeRequest({
      model: 'svc/alpha',
      messages: Array(LIMITS.messages.maxItems).fill(USER),
      temperature: 2,
      top_p: 0,
      max_tokens: 128_000,
      n: 16,
      stop: ['a', 'b', 'c', 'd'],
    })
    expect(request.turns).toHaveLength(100)
    expect(request.maxOutputTokens).toBe(128_000)
  })
})

function refusal(body: JsonObject): { param: string | undefined; message: string } {
  try {
    decodeRequest(body)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.kind).toBe('invalid_request')
    return { param: error.options.param, message: error.message }
  }
  throw new Error('the request was accepted')
}

function shorten(value: JsonObject): string {
  return String(JSON.stringify(value)).slice(0, 50)
}
