/** Prompt caches: hints on the way in, tokens read and written on the way back, each class at its own price. */
import type { Group, PairNote } from '@test/matrix/types'
import type { JsonObject } from '@/lib/json'
import { answer, ask, TEXT, USAGE } from './words'

const EPHEMERAL = { type: 'ephemeral' }
const HOUR = { type: 'ephemeral', ttl: '1h' }
const breakpoint = (ttl?: string) => ({ prompt_cache_breakpoint: { mode: 'explicit', ...(ttl && { ttl }) } })
const NO_KEY = { lost: 'omitted' }
const OWN_KEY: PairNote = {
  lost: 'sent as a hash of key and account',
  receivesFor: (accountId) => ({
    prompt_cache_key: new Bun.CryptoHasher('sha256').update(`${accountId}\nk1`).digest('hex').slice(0, 40),
  }),
}
const LOST = 'omitted: the provider caches automatically'

function marked(cache: JsonObject, hint: JsonObject) {
  return {
    'chat-completions': ask({
      chat: {
        messages: [
          { role: 'system', content: [{ type: 'text', text: 'A long prompt', ...hint }] },
          { role: 'user', content: [{ type: 'text', text: 'A long document', ...hint }] },
        ],
      },
    })['chat-completions'],
    messages: ask({
      messages: {
        system: [{ type: 'text', text: 'A long prompt', cache_control: cache }],
        messages: [{ role: 'user', content: [{ type: 'text', text: 'A long document', cache_control: cache }] }],
      },
    }).messages,
  }
}

const unmarked = ask({
  chat: {
    messages: [
      { role: 'system', content: 'A long prompt' },
      { role: 'user', content: 'A long document' },
    ],
  },
  gemini: {
    systemInstruction: { parts: [{ text: 'A long prompt' }] },
    contents: [{ role: 'user', parts: [{ text: 'A long document' }] }],
  },
  responses: { instructions: 'A long prompt', input: [{ role: 'user', content: 'A long document' }] },
})

export const caching: Group = {
  name: 'Prompt cache',
  cases: [
    {
      name: 'cache marks on blocks',
      asks: marked(EPHEMERAL, breakpoint()),
      golden: { ...unmarked, messages: marked(EPHEMERAL, {}).messages },
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: LOST },
        '*>generate-content': { lost: LOST },
        '*>responses': { lost: LOST },
      },
    },
    {
      name: 'cache marks for an hour',
      asks: marked(HOUR, breakpoint('1h')),
      golden: { ...unmarked, messages: marked(HOUR, {}).messages },
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: LOST },
        '*>generate-content': { lost: LOST },
        '*>responses': { lost: LOST },
      },
    },
    {
      name: 'cache marks in OpenRouter’s spelling',
      asks: { 'chat-completions': marked(HOUR, { cache_control: HOUR })['chat-completions'] },
      golden: { ...unmarked, messages: marked(HOUR, {}).messages },
      answer: TEXT,
      pairs: {
        'chat-completions>chat-completions': {
          lost: 'omitted, and named in `x-svc-left-out`',
          receives: { messages: marked(HOUR, {})['chat-completions'].messages },
        },
        '*>generate-content': { lost: LOST },
        '*>responses': { lost: LOST },
      },
    },
    {
      name: 'the same, at a provider that reads them',
      asks: marked(HOUR, { cache_control: HOUR }),
      quirks: { 'chat-completions': ['cache-control'] },
      providers: ['chat-completions'],
      answer: TEXT,
    },
    {
      name: 'more cache marks than the provider accepts',
      asks: {
        'chat-completions': ask({ chat: { messages: [{ role: 'user', content: fiveParts(breakpoint()) }] } })[
          'chat-completions'
        ],
      },
      golden: {
        messages: ask({
          messages: {
            messages: [
              {
                role: 'user',
                content: fiveParts({ cache_control: EPHEMERAL }).map((part, index) =>
                  index === 0 ? { type: 'text', text: 'Part 1' } : part,
                ),
              },
            ],
          },
        }).messages,
      },
      providers: ['messages'],
      answer: TEXT,
      pairs: { '*>messages': { lost: 'only the last four are sent' } },
    },
    {
      name: 'a cache mark on tools',
      asks: {
        messages: ask({
          messages: { tools: [{ name: 'now', input_schema: { type: 'object' }, cache_control: EPHEMERAL }] },
        }).messages,
      },
      golden: ask({
        chat: { tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object' } } }] },
        gemini: { tools: [{ functionDeclarations: [{ name: 'now' }] }] },
        responses: { tools: [{ type: 'function', name: 'now', parameters: { type: 'object' } }] },
      }),
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: LOST },
        '*>generate-content': { lost: LOST },
        '*>responses': { lost: LOST },
      },
    },
    {
      name: 'one cache mark for the whole prompt',
      asks: { messages: ask({ messages: { cache_control: EPHEMERAL } }).messages },
      golden: ask(),
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: LOST },
        '*>generate-content': { lost: LOST },
        '*>responses': { lost: LOST },
      },
    },
    {
      name: 'a cache key',
      asks: {
        'chat-completions': ask({ chat: { prompt_cache_key: 'k1' } })['chat-completions'],
        responses: ask({ responses: { prompt_cache_key: 'k1' } }).responses,
      },
      golden: ask(),
      answer: TEXT,
      pairs: {
        '*>messages': NO_KEY,
        '*>generate-content': NO_KEY,
        'chat-completions>chat-completions': OWN_KEY,
        'chat-completions>responses': OWN_KEY,
        'responses>chat-completions': OWN_KEY,
        'responses>responses': OWN_KEY,
      },
    },
    {
      name: 'cache usage',
      asks: ask(),
      answer: {
        'chat-completions': answer('cached', { usage: { ...USAGE, cacheRead: 12, cacheWrite5m: 4 } }),
        messages: answer('cached', { usage: { ...USAGE, cacheRead: 12, cacheWrite5m: 4 } }),
        'generate-content': answer('cached', { usage: { ...USAGE, uncached: 24, cacheRead: 12 } }),
        responses: answer('cached', { usage: { ...USAGE, cacheRead: 12, cacheWrite5m: 4 } }),
      },
      pairs: {
        'generate-content>chat-completions': { lost: 'written tokens are only counted as prompt' },
        'generate-content>messages': { lost: 'written tokens are only counted as prompt' },
        'generate-content>responses': { lost: 'written tokens are only counted as prompt' },
      },
    },
  ],
}

function fiveParts(hint: JsonObject): JsonObject[] {
  return [1, 2, 3, 4, 5].map((number) => ({ type: 'text', text: `Part ${number}`, ...hint }))
}
