/** What only one format has: carried to a provider of that format, refused elsewhere, since dropping it would change the meaning. */
import type { Case, Group } from '@test/matrix/types'
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'
import { ask, TEXT } from './words'

/** The catalogue's word for a provider whose charges beyond tokens the operator bears. */
const EXTRAS = ['unpriced-extras']
const UNLISTED = {
  lost: 'omitted and named in `x-svc-left-out`, if on no list of the format',
  receives: { x_unheard_of: undefined, xUnheardOf: undefined },
}
const CONSTRAINED = ask({ chat: { logit_bias: { '50256': -100 }, guided_choice: ['a', 'b'] } })['chat-completions']
const UNPRICED = { refused: 'no price covers', because: 'it costs more than its tokens' }

function native(name: string, format: FormatName, body: JsonObject, message: string): Case {
  return {
    name,
    asks: { [format]: body },
    quirks: { 'chat-completions': EXTRAS, messages: EXTRAS, 'generate-content': EXTRAS, responses: EXTRAS },
    answer: TEXT,
    pairs: { [`${format}>*`]: { refused: message, because: 'only providers of the client’s format have it' } },
  }
}

export const nativeOnly: Group = {
  name: 'Features of a single format',
  cases: [
    native(
      'tools other than functions',
      'chat-completions',
      ask({ chat: { tools: [{ type: 'local_shell' }] } })['chat-completions'],
      'tools[0]',
    ),
    native(
      'audio in the answer',
      'chat-completions',
      ask({ chat: { modalities: ['text', 'audio'], audio: { voice: 'ash', format: 'wav' } } })['chat-completions'],
      'modalities',
    ),
    native(
      'a tool at the provider',
      'messages',
      ask({ messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] } }).messages,
      'tools[0]',
    ),
    native('a container', 'messages', ask({ messages: { container: 'container_1' } }).messages, 'container'),
    native(
      'search by the provider',
      'generate-content',
      ask({ gemini: { tools: [{ googleSearch: {} }] } })['generate-content'],
      'tools[0]',
    ),
    native(
      'cached content',
      'generate-content',
      ask({ gemini: { cachedContent: 'cachedContents/1' } })['generate-content'],
      'cachedContent',
    ),
    {
      name: 'a tool at the provider, with a price',
      asks: ask({
        chat: { web_search_options: {} },
        messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
        gemini: { tools: [{ googleSearch: {} }] },
        responses: { tools: [{ type: 'web_search' }] },
      }),
      toolPrices: { web_search: 0, google_search: 0 },
      answer: TEXT,
      pairs: {
        '*>*': { refused: 'no price covers', because: 'only providers of the client’s format have it' },
        'messages>messages': {
          receives: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] },
        },
        'responses>responses': { receives: { max_tool_calls: 5 } },
      },
    },
    {
      name: 'a field that costs more than its tokens',
      asks: ask({
        chat: { web_search_options: {} },
        messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
        gemini: { tools: [{ googleSearch: {} }] },
        responses: { tools: [{ type: 'web_search' }] },
      }),
      answer: TEXT,
      pairs: {
        '*>*': UNPRICED,
        'chat-completions>chat-completions': UNPRICED,
        'messages>messages': UNPRICED,
        'generate-content>generate-content': UNPRICED,
        'responses>responses': UNPRICED,
      },
    },
    {
      name: 'a constraint that only one format has',
      asks: { 'chat-completions': CONSTRAINED },
      answer: TEXT,
      pairs: {
        '*>*': { refused: 'cannot carry logit_bias, guided_choice', because: 'the answer would differ' },
      },
    },
    {
      name: 'the same, with `svc.lossy`',
      asks: { 'chat-completions': { ...CONSTRAINED, svc: { lossy: true } } },
      golden: ask(),
      answer: TEXT,
      pairs: {
        '*>*': { lost: 'omitted, and named in `x-svc-left-out`' },
        'chat-completions>chat-completions': { receives: { svc: undefined } },
      },
    },
    {
      name: 'unknown fields',
      asks: ask({
        chat: { metadata: { a: 'b' }, x_unheard_of: [1] },
        messages: { x_unheard_of: { deep: null } },
        gemini: { safetySettings: [], labels: { a: 'b' }, xUnheardOf: [1] },
        responses: { metadata: { a: 'b' }, x_unheard_of: [1] },
      }),
      golden: ask(),
      answer: TEXT,
      pairs: {
        '*>*': { lost: 'omitted, and named in `x-svc-left-out`' },
        'chat-completions>chat-completions': UNLISTED,
        'messages>messages': UNLISTED,
        'generate-content>generate-content': UNLISTED,
        'responses>responses': UNLISTED,
      },
    },
    {
      name: 'fields of command-line clients',
      asks: {
        messages: ask({
          messages: {
            context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
            system: [
              { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.329' },
              { type: 'text', text: 'You are a CLI.', cache_control: { type: 'ephemeral' } },
            ],
            tools: [
              { name: 'now', input_schema: { type: 'object', properties: {} }, eager_input_streaming: true },
              { name: 'DeferredToolPlaceholder', input_schema: { type: 'object' }, defer_loading: true },
            ],
          },
        }).messages,
      },
      golden: ask({
        chat: {
          messages: [
            { role: 'system', content: 'You are a CLI.' },
            { role: 'user', content: 'Hi' },
          ],
          tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }],
        },
        gemini: {
          systemInstruction: { parts: [{ text: 'You are a CLI.' }] },
          tools: [{ functionDeclarations: [{ name: 'now' }] }],
        },
        responses: {
          instructions: 'You are a CLI.',
          tools: [{ type: 'function', name: 'now', parameters: { type: 'object', properties: {} } }],
        },
      }),
      answer: TEXT,
      pairs: { '*>*': { lost: 'the vendor’s own fields are omitted' } },
    },
  ],
}
