/** Unknown fields inside tools and parts are omitted and named, in requests to a provider of the same format. */
import { describe, expect, test } from 'bun:test'
import { traitsWith } from '@test/formats/responses/support'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { NESTED_FIELDS as CHAT_COMPLETIONS } from '@/formats/chat-completions/body-fields'
import { NESTED_FIELDS as GENERATE_CONTENT } from '@/formats/generate-content/body-fields'
import { FORMATS } from '@/formats/index'
import { NESTED_FIELDS as MESSAGES } from '@/formats/messages/body-fields'
import type { FieldTree } from '@/formats/nested-fields'
import { NESTED_FIELDS as RESPONSES } from '@/formats/responses/body-fields'
import { type JsonObject, parseJson } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { type Inside, readInside, readInterfaces } from './api-typings'

const LISTS: Record<FormatName, { tree: FieldTree } & Record<Inside, string[]>> = {
  'chat-completions': {
    tree: CHAT_COMPLETIONS,
    ...{ tools: ['tools'], turns: ['messages'], parts: ['messages', 'content'], calls: ['messages', 'tool_calls'] },
  },
  messages: {
    tree: MESSAGES,
    ...{ tools: ['tools'], turns: ['messages'], parts: ['messages', 'content'], calls: ['messages', 'content'] },
  },
  responses: {
    tree: RESPONSES,
    ...{ tools: ['tools'], turns: ['input'], parts: ['input', 'content'], calls: ['input'] },
  },
  'generate-content': {
    tree: GENERATE_CONTENT,
    ...{ tools: ['tools', 'functionDeclarations'], turns: ['contents'] },
    ...{ parts: ['contents', 'parts'], calls: ['contents', 'parts', 'functionCall'] },
  },
}

/** The fields of what stands there, and of what stands inside it: the library names both kinds of files alike. */
function fieldsAt(tree: FieldTree, path: readonly string[]): ReadonlySet<string> {
  const found = path.reduce<FieldTree | undefined>((inner, name) => inner?.inside?.get(name), tree)
  const all = [found, ...(found?.inside?.values() ?? [])]
  return new Set(all.flatMap((one) => [...(one?.own ?? [])]))
}

test.each(FORMAT_NAMES)(
  'every field that the installed libraries declare in tools, turns, parts and calls of %s is on the list',
  async (name) => {
    for (const what of ['tools', 'turns', 'parts', 'calls'] as const) {
      const declared = await readInside(name, what)
      expect(declared.length).toBeGreaterThan(1)
      const own = fieldsAt(LISTS[name].tree, LISTS[name][what])
      expect([what, declared.filter((field) => !own.has(field))]).toEqual([what, []])
    }
  },
)

const OPENAI_CHAT = 'openai/resources/chat/completions/completions.d.ts'
const OPENAI_RESPONSES = 'openai/resources/responses/responses.d.ts'
const ANTHROPIC = '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts'
const GOOGLE = '@google/genai/dist/genai.d.ts'

/** Settings that are objects, and where the installed libraries declare their fields. */
const SETTINGS: [format: FormatName, path: string, file: string, interfaces: string[]][] = [
  [
    ...(['chat-completions', 'tool_choice', OPENAI_CHAT] as const),
    ['ChatCompletionNamedToolChoice', 'ChatCompletionAllowedToolChoice', 'ChatCompletionNamedToolChoiceCustom'],
  ],
  ['chat-completions', 'tool_choice.allowed_tools', OPENAI_CHAT, ['ChatCompletionAllowedTools']],
  [
    ...(['messages', 'thinking', ANTHROPIC] as const),
    [
      ...['BetaThinkingConfigEnabled', 'BetaThinkingConfigAdaptive', 'BetaThinkingConfigDisabled'],
      'BetaThinkingConfigBetweenTools',
    ],
  ],
  [
    ...(['messages', 'tool_choice', ANTHROPIC] as const),
    ['BetaToolChoiceAuto', 'BetaToolChoiceAny', 'BetaToolChoiceTool', 'BetaToolChoiceNone'],
  ],
  ['messages', 'output_config', ANTHROPIC, ['BetaOutputConfig']],
  ['messages', 'output_config.format', ANTHROPIC, ['BetaJSONOutputFormat']],
  ['messages', 'output_config.task_budget', ANTHROPIC, ['BetaTokenTaskBudget']],
  ['responses', 'reasoning', 'openai/resources/shared.d.ts', ['Reasoning']],
  ['responses', 'text', OPENAI_RESPONSES, ['ResponseTextConfig']],
  ['responses', 'text.format', OPENAI_RESPONSES, ['ResponseFormatTextJSONSchemaConfig']],
  [
    ...(['responses', 'tool_choice', OPENAI_RESPONSES] as const),
    ['ToolChoiceAllowed', 'ToolChoiceFunction', 'ToolChoiceMcp', 'ToolChoiceCustom', 'ToolChoiceTypes'],
  ],
  ['generate-content', 'generationConfig.thinkingConfig', GOOGLE, ['ThinkingConfig']],
  ['generate-content', 'toolConfig', GOOGLE, ['ToolConfig']],
  ['generate-content', 'toolConfig.functionCallingConfig', GOOGLE, ['FunctionCallingConfig']],
]

test.each(SETTINGS)('%s: %s lists every field that %s declares', async (name, path, file, interfaces) => {
  const declared = await readInterfaces(file, interfaces)
  expect(declared.length).toBeGreaterThan(0)
  const own = path
    .split('.')
    .reduce<FieldTree | undefined>((tree, key) => tree?.inside?.get(key), LISTS[name].tree)?.own
  expect(declared.filter((field) => !own?.has(field))).toEqual([])
})

const SCHEMA = { type: 'object', properties: { container: { type: 'number', minimum: 1 } } }
const CALLED = { name: 'f', arguments: '{"container":1}' }
const SAID = { role: 'user', content: 'Hi' }
const turn = (...content: JsonObject[]) => [{ role: 'user', content }]
const result = (...content: JsonObject[]) => ({ type: 'tool_result', tool_use_id: 'call_1', content })
const picture = { type: 'base64', media_type: 'image/png', data: 'AA==' }

/** What is sent, the rest of it, and the paths of the rest. */
const CASES: [FormatName, what: string, given: JsonObject, left: JsonObject, paths: string[]][] = [
  [
    ...(['chat-completions', 'a tool'] as const),
    {
      messages: [SAID],
      tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA, model: 'dear' }, fallbacks: ['x'] }],
    },
    { messages: [SAID], tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }] },
    ['tools.fallbacks', 'tools.function.model'],
  ],
  [
    ...(['chat-completions', 'parts'] as const),
    {
      messages: turn(
        { type: 'text', text: 'Hi', thread: 'kept' },
        { type: 'image_url', image_url: { url: 'https://a.test/a.png', detail: 'low', store: 1.0 } },
      ),
    },
    {
      messages: turn(
        { type: 'text', text: 'Hi' },
        { type: 'image_url', image_url: { url: 'https://a.test/a.png', detail: 'low' } },
      ),
    },
    ['messages.content.thread', 'messages.content.image_url.store'],
  ],
  [
    ...(['messages', 'a tool'] as const),
    { max_tokens: 9, messages: [SAID], tools: [{ name: 'f', input_schema: SCHEMA, thread: 'kept' }] },
    { max_tokens: 9, messages: [SAID], tools: [{ name: 'f', input_schema: SCHEMA }] },
    ['tools.thread'],
  ],
  [
    ...(['messages', 'blocks, results inside them, and the system prompt'] as const),
    {
      max_tokens: 9,
      system: [{ type: 'text', text: 'Be brief', model: 'dear' }],
      messages: turn(
        { type: 'image', source: { ...picture, keep: true } },
        result({ type: 'text', text: 'Found', container: 'x' }),
      ),
    },
    {
      max_tokens: 9,
      system: [{ type: 'text', text: 'Be brief' }],
      messages: turn({ type: 'image', source: picture }, result({ type: 'text', text: 'Found' })),
    },
    ['system.model', 'messages.content.source.keep', 'messages.content.content.container'],
  ],
  [
    ...(['responses', 'a tool'] as const),
    { input: 'Hi', tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: false, previous: 'kept' }] },
    { input: 'Hi', tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: false }] },
    ['tools.previous'],
  ],
  [
    ...(['responses', 'tools that run at the provider'] as const),
    {
      input: 'Hi',
      tools: [
        { type: 'code_interpreter', container: { type: 'auto', memory_limit: '64g' } },
        { type: 'web_search', user_location: { type: 'approximate', city: 'Ulm', precision: 'dear' } },
      ],
    },
    {
      input: 'Hi',
      tools: [
        { type: 'code_interpreter', container: { type: 'auto' } },
        { type: 'web_search', user_location: { type: 'approximate', city: 'Ulm' } },
      ],
    },
    ['tools.container.memory_limit', 'tools.user_location.precision'],
  ],
  [
    ...(['responses', 'parts'] as const),
    { input: turn({ type: 'input_text', text: 'Hi', thread: 'kept' }) },
    { input: turn({ type: 'input_text', text: 'Hi' }) },
    ['input.content.thread'],
  ],
  [
    ...(['generate-content', 'a function'] as const),
    {
      contents: [{ parts: [{ text: 'Hi' }] }],
      tools: [{ function_declarations: [{ name: 'f', parameters: SCHEMA, model: 'x' }] }],
    },
    {
      contents: [{ parts: [{ text: 'Hi' }] }],
      tools: [{ function_declarations: [{ name: 'f', parameters: SCHEMA }] }],
    },
    ['tools.functionDeclarations.model'],
  ],
  [
    ...(['generate-content', 'parts, in either spelling'] as const),
    {
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Hi', keep_it: 'x' }, { inline_data: { mime_type: 'image/png', data: 'AA==', store: true } }],
        },
      ],
    },
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }, { inline_data: { mime_type: 'image/png', data: 'AA==' } }] }],
    },
    ['contents.parts.keepIt', 'contents.parts.inlineData.store'],
  ],
  [
    ...(['chat-completions', 'messages and their calls'] as const),
    {
      messages: [
        { role: 'user', content: 'Hi', name: 'Ann', thread: 'kept' },
        {
          ...{ role: 'assistant', content: null, reasoning_content: 'Hm.', container: 'x' },
          tool_calls: [
            { ...{ id: 'c', type: 'function', index: 0, model: 'dear' }, function: { ...CALLED, container: 'x' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'Found' },
      ],
      functions: [{ name: 'f', parameters: SCHEMA, store: true }],
      web_search_options: { search_context_size: 'low', engine: 'dear' },
    },
    {
      messages: [
        { role: 'user', content: 'Hi', name: 'Ann' },
        {
          ...{ role: 'assistant', content: null, reasoning_content: 'Hm.' },
          tool_calls: [{ id: 'c', type: 'function', index: 0, function: CALLED }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'Found' },
      ],
      functions: [{ name: 'f', parameters: SCHEMA }],
      web_search_options: { search_context_size: 'low' },
    },
    [
      ...[
        'messages.thread',
        'messages.container',
        'messages.tool_calls.model',
        'messages.tool_calls.function.container',
      ],
      ...['functions.store', 'web_search_options.engine'],
    ],
  ],
  [
    ...(['messages', 'messages'] as const),
    { max_tokens: 9, messages: [{ ...SAID, id: 'msg_1', thread: 'kept' }] },
    { max_tokens: 9, messages: [SAID] },
    ['messages.id', 'messages.thread'],
  ],
  [
    ...(['responses', 'items'] as const),
    {
      input: [
        { ...SAID, conversation: 'kept' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"model":1.0}', model: 'dear' },
        { type: 'function_call_output', call_id: 'c', output: 'Found', store: true },
      ],
    },
    {
      input: [
        SAID,
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"model":1.0}' },
        { type: 'function_call_output', call_id: 'c', output: 'Found' },
      ],
    },
    ['input.conversation', 'input.model', 'input.store'],
  ],
  [
    ...(['chat-completions', 'the choice of a tool'] as const),
    { messages: [SAID], tool_choice: { type: 'function', function: { name: 'f', model: 'dear' }, store: true } },
    { messages: [SAID], tool_choice: { type: 'function', function: { name: 'f' } } },
    ['tool_choice.function.model', 'tool_choice.store'],
  ],
  [
    ...(['messages', 'settings'] as const),
    {
      ...{ max_tokens: 9, messages: [SAID] },
      thinking: { type: 'adaptive', thread: 'kept' },
      tool_choice: { type: 'auto', model: 'dear' },
      output_config: { effort: 'low', store: true },
    },
    {
      ...{ max_tokens: 9, messages: [SAID] },
      thinking: { type: 'adaptive' },
      tool_choice: { type: 'auto' },
      output_config: { effort: 'low' },
    },
    ['thinking.thread', 'tool_choice.model', 'output_config.store'],
  ],
  [
    ...(['responses', 'settings'] as const),
    {
      input: 'Hi',
      reasoning: { effort: 'low', model: 'dear' },
      text: { verbosity: 'low', format: { type: 'text', store: true } },
      tool_choice: { type: 'function', name: 'f', thread: 'kept' },
    },
    {
      input: 'Hi',
      reasoning: { effort: 'low' },
      text: { verbosity: 'low', format: { type: 'text' } },
      tool_choice: { type: 'function', name: 'f' },
    },
    ['reasoning.model', 'text.format.store', 'tool_choice.thread'],
  ],
  [
    ...(['generate-content', 'settings of thinking'] as const),
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generation_config: { thinking_config: { thinking_budget: 9, keep_it: true } },
    },
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generation_config: { thinking_config: { thinking_budget: 9 } },
    },
    ['generationConfig.thinkingConfig.keepIt'],
  ],
  [
    ...(['generate-content', 'contents and the settings of tools'] as const),
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }], cached_content: 'kept' }],
      tools: [{ google_search: { search_types: { web_search: { depth: 9 } }, time_range_filter: { end: 'x' } } }],
      tool_config: { function_calling_config: { mode: 'AUTO', model: 'dear' }, store: 'kept' },
    },
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ google_search: { search_types: { web_search: {} }, time_range_filter: {} } }],
      tool_config: { function_calling_config: { mode: 'AUTO' } },
    },
    [
      ...['contents.cachedContent', 'tools.googleSearch.searchTypes.webSearch.depth'],
      ...['tools.googleSearch.timeRangeFilter.end', 'toolConfig.functionCallingConfig.model', 'toolConfig.store'],
    ],
  ],
]

function send(name: FormatName, body: JsonObject, passFields: string[] = []) {
  const format = FORMATS.get(name)
  if (!format) throw new Error(`there is a codec for ${name}`)
  const whole = name === 'generate-content' || 'model' in body ? body : { model: 'svc/alpha', ...body }
  const before = JSON.stringify(whole)
  const request = format.decodeRequest(whole, { model: 'svc/alpha' })
  const traits = { ...traitsWith(), passFields: new Set(passFields) }
  const sent = format.passThrough.request(whole, request, traits)
  expect(JSON.stringify(whole)).toBe(before)
  return {
    unlisted: request.unlisted?.toSorted() ?? [],
    sent: Object.fromEntries(Object.keys(body).map((field) => [field, sent[field]])),
  }
}

describe.each(CASES)('nested fields of %s: %s', (name, _, given, left, paths) => {
  test('unknown nested fields are omitted and named', () => {
    expect(send(name, given)).toEqual({ unlisted: paths.toSorted(), sent: left })
  })

  test('unknown nested fields are sent if the operator allows it', () => {
    expect(send(name, given, paths).sent).toEqual(given)
  })

  test('listed nested fields are never omitted', () => {
    expect(send(name, left)).toEqual({ unlisted: [], sent: left })
  })
})

test('numbers in a request keep their digits if fields are omitted', () => {
  const part = '{"type":"text","text":"Hi","thread":2.0,"prompt_cache_breakpoint":{"ttl":1.0}}'
  const text = `{"model":"svc/alpha","messages":[{"role":"user","content":[${part}]}]}`
  const body = parseJson(text) as JsonObject
  rememberNumbers(body, text)
  expect(JSON.stringify(send('chat-completions', body).sent.messages)).toBe(
    '[{"role":"user","content":[{"type":"text","text":"Hi","prompt_cache_breakpoint":{"ttl":1.0}}]}]',
  )
})
