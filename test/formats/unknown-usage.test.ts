/** Token classes that the gateway does not know, in the usage of each format, streamed and whole. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FORMATS } from '@/formats/index'
import { createUnknownUsageSearch } from '@/formats/unknown-usage'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

const WHOLE: Record<string, (usage: JsonObject) => JsonObject> = {
  'chat-completions': (usage) => ({ choices: [{ message: { content: 'Hi' } }], usage }),
  messages: (usage) => ({ type: 'message', content: [{ type: 'text', text: 'Hi' }], usage }),
  'generate-content': (usageMetadata) => ({ candidates: [{ finishReason: 'STOP' }], usageMetadata }),
}
const STREAMED: Record<string, (usage: JsonObject) => JsonObject> = {
  'chat-completions': (usage) => ({ choices: [], usage }),
  messages: (usage) => ({ type: 'message_delta', delta: {}, usage }),
  'generate-content': (usageMetadata) => ({ candidates: [{ finishReason: 'STOP' }], usageMetadata }),
}
const KNOWN: Record<string, JsonObject> = {
  'chat-completions': { prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } },
  messages: { input_tokens: 3, output_tokens: 2, server_tool_use: { web_search_requests: 1 } },
  'generate-content': { promptTokenCount: 3, candidatesTokenCount: 2, promptTokensDetails: [{ tokenCount: 3 }] },
}
const NEW: Record<string, [field: string, usage: JsonObject][]> = {
  'chat-completions': [
    ['video_tokens', { video_tokens: 5 }],
    ['completion_tokens_details.dream_tokens', { completion_tokens_details: { dream_tokens: 5 } }],
  ],
  messages: [
    ['thread_input_tokens', { thread_input_tokens: 5 }],
    ['cache_creation.ephemeral_1d_input_tokens', { cache_creation: { ephemeral_1d_input_tokens: 5 } }],
    ['server_tool_use.browse_tokens', { server_tool_use: { browse_tokens: 5 } }],
  ],
  'generate-content': [['groundingTokenCount', { groundingTokenCount: 5 }]],
}

describe.each([...FORMATS.values()])('unknown usage of $name', (format) => {
  const whole = (usage: JsonObject) => format.decodeResponse(WHOLE[format.name]?.(usage) ?? {})?.unknownUsage
  const streamed = (usage: JsonObject) => {
    const json = STREAMED[format.name]?.(usage)
    const events = format.createStreamDecoder().push({ event: undefined, data: JSON.stringify(json), raw: '' }, json)
    return events.flatMap((event) => (event.type === 'usage' ? [event.unknown] : []))
  }

  test('the format’s own usage classes are not reported as unknown', () => {
    const known = KNOWN[format.name] ?? {}
    expect([whole(known), streamed(known)]).toEqual([undefined, [undefined]])
  })

  test.each(NEW[format.name] ?? [])('an unknown usage class is reported: %s', (field, more) => {
    const usage = { ...KNOWN[format.name], ...more }
    expect([whole(usage), streamed(usage)]).toEqual([[field], [[field]]])
  })
})

test('unknown usage that is zero, no number or of another unit is ignored; at most a few short names are reported', () => {
  const search = createUnknownUsageSearch(['a_tokens'])
  expect(search({ a_tokens: 1, b_tokens: 0, c_tokens: '5', seconds: 5, d_tokens: null })).toBeUndefined()
  expect(search('text')).toBeUndefined()
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${'x'.repeat(200)}${index}_tokens`, 1]))
  expect(search(many)?.map((name) => name.length)).toEqual(Array(8).fill(64))
})

test('no recorded answer has an unknown usage class', () => {
  const found = new Set<string>()
  for (const format of FORMATS.values()) {
    const folder = join(import.meta.dir, '../fixtures', format.name)
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const json = parseJson(readFileSync(join(folder, file), 'utf8'))
      const unknown = isJsonObject(json) ? format.decodeResponse(json)?.unknownUsage : undefined
      for (const name of unknown ?? []) found.add(`${file}: ${name}`)
    }
  }
  expect([...found]).toEqual([])
})
