/** Fields that a model lists as supported reach its provider, and those that a quirk removes are not listed. */
import { describe, expect, test } from 'bun:test'
import { requestOf } from '@test/routing/world'
import type { ChatRequest, Feature } from '@/chat/request'
import type { Format } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { type Serving, supportedFields } from '@/formats/supported-fields'

const formats = [...FORMATS.values()]
const client = FORMATS.get('chat-completions') as Format
const ALL = new Set(['tools', 'reasoning', 'json-schema'])

function serving(provider: Format, changes: Partial<Serving> = {}): Serving {
  return { provider, quirks: new Set(), capabilities: ALL, sellsTools: false, ...changes }
}

/** A request that asks for a feature. */
const ASKING: Partial<Record<Feature, Partial<ChatRequest>>> = {
  temperature: { sampling: { temperature: 0.5 } },
  topP: { sampling: { topP: 0.5 } },
  topK: { sampling: { topK: 5 } },
  frequencyPenalty: { sampling: { frequencyPenalty: 0.5 } },
  presencePenalty: { sampling: { presencePenalty: 0.5 } },
  logprobs: { sampling: { logprobs: true }, preferences: { order: [], only: [], ignore: [], lossy: true } },
  reasoning: { reasoning: { effort: 'high', visible: false } },
  verbosity: { verbosity: 'low' },
}

const QUIRKY = formats.flatMap((format) =>
  Object.entries(format.requestFields.lackingWith).flatMap(([quirk, features]) =>
    features.map((feature) => [format.name, quirk, feature, format] as const),
  ),
)

describe.each(QUIRKY)('%s with the quirk %s', (_, quirk, feature, format) => {
  const encode = (quirks: string[]) =>
    format.encodeRequest(requestOf({ maxOutputTokens: 4_000, ...ASKING[feature] }), {
      model: 'upstream',
      maxOutputTokens: 8_000,
      quirks: new Set(quirks),
      accountId: 'acc_1',
    })
  const isLost = (quirks: string[]) =>
    encode(quirks).warnings.some((warning) => warning.feature === feature && warning.isLost === true)

  test(`the quirk removes ${feature}, as the table says`, () => {
    expect(ASKING[feature]).toBeDefined()
    expect([isLost([]), isLost([quirk])]).toEqual([format.requestFields.lacking.includes(feature), true])
  })

  test(`a field that needs ${feature} is not listed`, () => {
    const fields = client.requestFields.spelling[feature] ?? []
    const supported = supportedFields(client, [serving(format, { quirks: new Set([quirk]) })])
    for (const field of fields) expect(supported).not.toContain(field)
  })
})

test('a field that one provider refuses is listed; a field that one provider silently drops is not', () => {
  const [chat, messages] = [serving(client), serving(FORMATS.get('messages') as Format)]
  expect(supportedFields(client, [chat])).toEqual(expect.arrayContaining(['guided_json', 'seed', 'stop']))
  expect(supportedFields(client, [messages])).not.toContain('guided_json')
  const both = supportedFields(client, [chat, messages])
  expect(both).toEqual(expect.arrayContaining(['guided_json', 'stop']))
  expect(both).not.toContain('seed')
})

test('tools and thinking are listed for models that have them', () => {
  const none = supportedFields(client, [serving(client, { capabilities: new Set() })])
  for (const field of ['tools', 'tool_choice', 'parallel_tool_calls', 'reasoning_effort', 'reasoning'])
    expect([field, none.includes(field), supportedFields(client, [serving(client)]).includes(field)]).toEqual([
      field,
      false,
      true,
    ])
})

test('the search field is listed if the search has a price', () => {
  const search = (sellsTools: boolean) =>
    supportedFields(client, [serving(client, { sellsTools })]).includes('web_search_options')
  expect([search(false), search(true)]).toEqual([false, true])
})

test('fields that are refused everywhere, and the conversation’s own fields, are not listed', () => {
  for (const format of formats) {
    const supported = supportedFields(client, [serving(format, { sellsTools: true })])
    for (const field of ['model', 'messages', 'plugins', 'api_key', 'previous_response_id'])
      expect(supported).not.toContain(field)
  }
})
