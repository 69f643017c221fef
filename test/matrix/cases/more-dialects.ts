/** The same for providers of the messages and generate-content formats, and for complete answers. */
import type { Case, Group, Seen } from '@test/matrix/types'
import type { FormatName } from '@/chat/format-name'
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import { ask } from './words'

const AS_SENT = 'passed on as the provider sent it'

/** Long enough for the input that the fixtures report: more than one token a byte is not believed. */
const QUESTION = 'How is the weather in all of these cities? '.repeat(12)

/** Every client asks to see the reasoning, with room for it. */
const ASKS = ask({
  chat: {
    max_completion_tokens: 4096,
    reasoning_effort: 'low',
    messages: [{ role: 'user', content: QUESTION }],
  },
  messages: {
    max_tokens: 4096,
    thinking: { type: 'enabled', budget_tokens: 2048 },
    messages: [{ role: 'user', content: QUESTION }],
  },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: QUESTION }] }],
    generationConfig: { maxOutputTokens: 4096, thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } },
  },
  responses: {
    max_output_tokens: 4096,
    reasoning: { effort: 'low', summary: 'auto' },
    input: [{ role: 'user', content: QUESTION }],
  },
})

const usage = (uncached: number, output: number, more: Partial<Usage> = {}): Usage => ({
  ...ZERO_USAGE,
  uncached,
  output,
  ...more,
})

type Special = { fixture: string; usage: Usage; sees: Partial<Seen>; raw?: Partial<Seen>; mode?: 'json' | 'stream' }

function dialect(name: string, provider: FormatName, special: Special): Case {
  const { fixture, usage, sees, raw = {}, mode = 'stream' } = special
  return {
    name,
    asks: ASKS,
    answer: { fixture, usage },
    providers: [provider],
    modes: [mode],
    sees,
    pairs: { [`${provider}>${provider}`]: { isRaw: true, lost: AS_SENT, sees: raw } },
  }
}

const CODE = '\n```python\nprint(2+2)\n```\n\n```\n4\n\n```\n'

export const moreDialects: Group = {
  name: 'Dialects of other providers',
  cases: [
    dialect('messages: a tool of the provider, usage restated', 'messages', {
      fixture: 'restated-usage',
      usage: usage(61, 12, { cacheRead: 3, cacheWrite5m: 7 }),
      sees: { text: 'Foxes.' },
      raw: { finish: 'stop-sequence' },
    }),
    dialect('messages: arguments at the start of a call, hidden thoughts', 'messages', {
      fixture: 'thinking-tools',
      usage: usage(402, 90, { reasoning: 30 }),
      sees: {
        text: "I'll look.",
        reasoning: 'Two cities, two calls.',
        calls: [
          { name: 'get_weather', arguments: { city: 'Budapest' } },
          { name: 'get_weather', arguments: { city: 'Oslo' } },
          { name: 'get_time', arguments: {} },
        ],
        finish: 'tool-calls',
      },
    }),
    dialect('generate-content: arguments that stream by path', 'generate-content', {
      fixture: 'partial-args',
      usage: usage(11, 21),
      sees: {
        text: '',
        calls: [
          {
            name: 'set_light',
            arguments: { brightness: 50, colour: 'warm', rooms: [{ name: 'hall' }, { on: true }], scene: null },
          },
        ],
        finish: 'tool-calls',
      },
      raw: {
        calls: ['set_light', '', '', '', ''].map((name) => ({ name, arguments: null })),
      },
    }),
    dialect('generate-content: code that the provider ran', 'generate-content', {
      fixture: 'code-execution',
      usage: usage(27, 12),
      sees: { text: `${CODE}It is 4.` },
      raw: { text: 'It is 4.' },
    }),
    dialect('generate-content: LF, comments and a foreign [DONE]', 'generate-content', {
      fixture: 'lf-comments-done',
      usage: usage(4, 1),
      sees: { text: 'Yes' },
    }),
    dialect('generate-content: usage after the finish', 'generate-content', {
      fixture: 'usage-after-finish',
      usage: usage(4, 1),
      sees: { text: 'Yes' },
    }),
    dialect('generate-content: everything in one chunk', 'generate-content', {
      fixture: 'parallel-one-chunk',
      usage: usage(9, 7),
      sees: {
        text: 'Checking.',
        calls: [
          { name: 'now', arguments: {} },
          { name: 'now', arguments: {} },
        ],
        finish: 'tool-calls',
      },
      raw: {
        calls: [
          { name: 'now', arguments: null },
          { name: 'now', arguments: {} },
        ],
      },
    }),
    dialect('generate-content: a signature on an empty last text', 'generate-content', {
      fixture: 'signed-text',
      usage: usage(4, 12, { reasoning: 9 }),
      sees: { text: 'Fine.', reasoning: 'Think' },
    }),
    {
      ...dialect('chat-completions: thoughts and texts in one piece', 'chat-completions', {
        fixture: 'mistral-thinking',
        usage: usage(8, 7, { cacheRead: 12, reasoning: 3 }),
        sees: { text: 'Yes', reasoning: 'Hm.' },
        mode: 'json',
      }),
      pairs: {},
    },
    {
      name: 'generate-content: a call that came out malformed',
      asks: { 'chat-completions': ASKS['chat-completions'], messages: ASKS.messages, responses: ASKS.responses },
      golden: ASKS,
      answer: { fixture: 'malformed-call', usage: null, form: 'json' },
      providers: ['generate-content'],
      isFaulty: true,
      fails: { status: 502, message: 'failed to answer' },
    },
    {
      name: 'generate-content: a call that came out malformed, for a client who knows the word for it',
      asks: { 'generate-content': ASKS['generate-content'] },
      answer: { fixture: 'malformed-call', usage: ZERO_USAGE },
      providers: ['generate-content'],
      modes: ['json'],
      isFaulty: true,
      sees: { text: '', finish: 'failed' },
      pairs: { 'generate-content>generate-content': { isRaw: true, lost: `${AS_SENT}; free of charge` } },
    },
  ],
}
