/** Fields whose cost the prices do not cover are refused before a hold; fields that only cost tokens are not. */
import { describe, expect, test } from 'bun:test'
import { providerOf } from '@test/routing/world'
import { refuseUnpriceable } from '@/catalog/priceable'
import type { Model } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest } from '@/chat/request'
import { FORMATS } from '@/formats/index'
import type { JsonObject } from '@/lib/json'
import { modelOf, prices, requestOf } from './sample-requests'

function paramOf(request: ChatRequest, models?: Model[]): string | undefined {
  try {
    refuseUnpriceable(
      request,
      models?.flatMap((model) => model.targets),
    )
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.status).toBe(400)
    return error.options.param
  }
}

const CHAT = { model: 'svc/a', messages: [{ role: 'user', content: 'hi' }] }
const MESSAGES = { ...CHAT, max_tokens: 10 }
const GENERATE = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }

function decode(name: FormatName, body: JsonObject): ChatRequest {
  const format = FORMATS.get(name)
  if (!format) throw new Error(`no format ${name}`)
  return format.decodeRequest(body, { model: 'svc/a', stream: false })
}

describe('fields that decide the price, in each format', () => {
  const functionTool = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } }

  test.each([
    ['chat-completions', { ...CHAT, service_tier: 'priority' }],
    ['chat-completions', { ...CHAT, service_tier: 'fast' }],
    ['chat-completions', { ...CHAT, web_search_options: {} }],
    ['chat-completions', { ...CHAT, tools: [functionTool, { type: 'web_search' }] }],
    ['chat-completions', { ...CHAT, modalities: ['text', 'audio'] }],
    ['chat-completions', { ...CHAT, previous_response_id: 'resp_1' }],
    ['messages', { ...MESSAGES, speed: 'fast' }],
    ['messages', { ...MESSAGES, inference_geo: 'us' }],
    ['messages', { ...MESSAGES, mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] }],
    ['messages', { ...MESSAGES, container: 'container_1' }],
    ['messages', { ...MESSAGES, thread: { type: 'create' } }],
    ['messages', { ...MESSAGES, fallbacks: 'default' }],
    ['messages', { ...MESSAGES, compaction: {} }],
    ['messages', { ...MESSAGES, billing_policy: { type: 'billing_policy' } }],
    ['chat-completions', { ...CHAT, context_window_fallback_dict: { a: 'b' } }],
    ['chat-completions', { ...CHAT, plugins: [{ id: 'web' }] }],
    ['chat-completions', { ...CHAT, api_base: 'https://a.example' }],
    ['generate-content', { ...GENERATE, generation_config: { response_modalities: ['TEXT', 'AUDIO'] } }],
    ['generate-content', { ...GENERATE, cached_content: 'cachedContents/1' }],
    ['messages', { ...MESSAGES, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['messages', { ...MESSAGES, tools: [{ type: 'code_execution_20250522', name: 'code_execution' }] }],
    ['messages', { ...MESSAGES, tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
    ['generate-content', { ...GENERATE, cachedContent: 'cachedContents/1' }],
    ['generate-content', { ...GENERATE, tools: [{ googleSearch: {} }] }],
    ['generate-content', { ...GENERATE, tools: [{ codeExecution: {} }, { functionDeclarations: [{ name: 'add' }] }] }],
    ['generate-content', { ...GENERATE, serviceTier: 'priority' }],
  ] as [FormatName, object][])('a price-deciding field in %s is refused: %j', (format, body) => {
    const request = decode(format, body as JsonObject)
    expect(paramOf(request)).toBeDefined()
  })

  test.each([
    ['chat-completions', CHAT],
    [
      'chat-completions',
      { ...CHAT, tools: [functionTool], service_tier: 'auto', stream_options: { include_usage: true } },
    ],
    ['chat-completions', { ...CHAT, modalities: ['text'], metadata: { a: 'b' }, store: true, verbosity: 'low' }],
    ['messages', { ...MESSAGES, service_tier: 'standard_only', speed: 'standard', inference_geo: 'global' }],
    ['messages', { ...MESSAGES, tools: [{ type: 'bash_20250124', name: 'bash' }], context_management: { edits: [] } }],
    ['messages', { ...MESSAGES, mcp_servers: [], container: null, thread: null, fallbacks: [] }],
    ['messages', { ...MESSAGES, x_unheard_of: { deep: 1 } }],
    ['generate-content', { ...GENERATE, generationConfig: { responseModalities: ['TEXT'] } }],
    // Models without a price for pictures are passed over when the request is planned.
    ['chat-completions', { ...CHAT, modalities: ['image', 'text'] }],
    ['generate-content', { ...GENERATE, generationConfig: { responseModalities: ['IMAGE'] } }],
    ['generate-content', { ...GENERATE, tools: [{ functionDeclarations: [{ name: 'add' }] }], safetySettings: [] }],
  ] as [FormatName, object][])('a field without effect on the price in %s is accepted: %j', (format, body) => {
    expect(paramOf(decode(format, body as JsonObject))).toBeUndefined()
  })
})

describe('service classes', () => {
  const BODIES: [FormatName, string, JsonObject][] = [
    ['chat-completions', 'service_tier', CHAT],
    ['responses', 'service_tier', { model: 'm', input: 'Hi' }],
    ['generate-content', 'serviceTier', GENERATE],
  ]
  const tiers = ['flex', 'FLEX', 'priority', 'fast', 'scale', 'batch', 'brand-new']
  const provider = providerOf('p1', { passFields: new Set(['service_tier']) })
  const bearing = {
    ...modelOf({ base: prices(1, 1), steps: [] }),
    targets: [{ model: 'a', quirks: new Set<string>(), provider }],
  }

  for (const [format, field, body] of BODIES) {
    test.each(tiers)(
      `${format}: the service class %s has no price, and is refused unless the operator pays for it`,
      (tier) => {
        const request = decode(format, { ...body, [field]: tier })
        expect(paramOf(request)).toBe('service_tier')
        expect(paramOf(request, [bearing])).toBeUndefined()
      },
    )

    test.each(['auto', 'default', 'standard', 'Standard'])(
      `${format}: the service class %s is charged at the catalogue's price`,
      (tier) => {
        expect(paramOf(decode(format, { ...body, [field]: tier }))).toBeUndefined()
      },
    )
  }

  test.each(['flex', 'priority', 'brand-new'])(
    'messages: the service class %s is not a valid value, and is refused',
    (tier) => {
      expect(() => decode('messages', { ...MESSAGES, service_tier: tier })).toThrow()
    },
  )
})

describe('fields for a provider of the same format', () => {
  test.each([
    ['tools[1] (web_search_20250305)', 'tools[1]'],
    ['tools[0] (googleSearch)', 'tools[0]'],
    ['tools[0]', 'tools[0]'],
    ['messages[0].content[1] (container_upload)', 'messages[0].content[1]'],
  ])('a field that only a provider of the same format supports is refused: %s', (native, param) => {
    expect(paramOf(requestOf('', { nativeOnly: ['max_tokens 0 (warms the cache)', native] }))).toBe(param)
  })

  test.each([
    'tools[0] (bash_20250124)',
    'tools[2] (text_editor_20250728)',
    'tools[0] (computer_20250124)',
    'tools[0] (computerUse)',
    'max_tokens 0 (warms the cache)',
    'messages[0].content[1] (search_result)',
  ])('a field that only a provider of the same format supports is passed on: %s', (native) => {
    expect(paramOf(requestOf('', { nativeOnly: [native] }))).toBeUndefined()
  })
})

describe('extra services that the operator pays', () => {
  const container = { format: 'messages', field: 'container' } as const
  const thread = { format: 'messages', field: 'thread', code: 'thread_unsupported_request' } as const
  const model = (format: FormatName, quirks: string[], passFields: string[] = []) => {
    const provider = providerOf('p1', { format, passFields: new Set(passFields) })
    const target = { model: 'a', quirks: new Set(quirks), provider }
    return { ...modelOf({ base: prices(1, 1), steps: [] }), targets: [target] }
  }

  test('an operator can pay a provider’s extra services if no other provider can answer', () => {
    const request = requestOf('', { unpriced: [container] })
    const bearing = model('messages', ['unpriced-extras'])
    expect(paramOf(request, [bearing])).toBeUndefined()
    expect(paramOf(request, [bearing, model('messages', ['other'])])).toBe('container')
    expect(paramOf(request, [])).toBe('container')
  })

  test('allowing one field by name allows no other field', () => {
    const passing = model('messages', [], ['container'])
    expect(paramOf(requestOf('', { unpriced: [container] }), [passing])).toBeUndefined()
    expect(paramOf(requestOf('', { unpriced: [container, thread] }), [passing])).toBe('thread')
  })

  test('an allowed field that clients do not need is sent to a provider of its format only', () => {
    const request = requestOf('', { unpriced: [thread] })
    expect(paramOf(request, [model('messages', ['unpriced-extras'])])).toBeUndefined()
    expect(paramOf(request, [model('chat-completions', ['unpriced-extras'])])).toBe('thread')
    expect(() => refuseUnpriceable(request)).toThrow(
      expect.objectContaining({ options: { param: 'thread', code: 'thread_unsupported_request' } }),
    )
  })
})
