/** What providers of the chat-completions format were seen to send unlike the original: translated and metered all the same. */
import type { Case, Group, PairNote, Seen } from '@test/matrix/types'
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import { ask } from './words'

/** The client reads the provider's own bytes: that is what the same format is for, as long as they keep its shape. */
const AS_SENT = 'passed on as the provider sent it'
const RAW: PairNote = { isRaw: true, lost: AS_SENT }
/** OpenAI itself says so where a call was forced. */
const STOPPED: PairNote = { lost: AS_SENT, sees: { finish: 'stop' } }

/** Every client asks to see the reasoning, with room for it. */
const ASKS = ask({
  chat: { max_completion_tokens: 4096, reasoning_effort: 'low' },
  messages: { max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 2048 } },
  gemini: {
    generationConfig: { maxOutputTokens: 4096, thinkingConfig: { thinkingBudget: 2048, includeThoughts: true } },
  },
  responses: { max_output_tokens: 4096, reasoning: { effort: 'low', summary: 'auto' } },
})

const usage = (uncached: number, output: number, more: Partial<Usage> = {}): Usage => ({
  ...ZERO_USAGE,
  uncached,
  output,
  ...more,
})
/** What most fixtures of the format report. */
const USUAL = usage(8, 7, { cacheRead: 12, reasoning: 3 })

const call = (name: string, argument: Record<string, string | number>) => ({ name, arguments: argument })
const OSLO_ROME = [call('weather', { city: 'Oslo' }), call('weather', { city: 'Rome' })]

type Special = { fixture: string; usage: Usage | null; sees: Partial<Seen>; raw?: PairNote }

function dialect(name: string, { fixture, usage, sees, raw }: Special): Case {
  return {
    name,
    asks: ASKS,
    answer: { fixture, usage },
    providers: ['chat-completions'],
    modes: ['stream'],
    sees,
    ...(raw && { pairs: { 'chat-completions>chat-completions': raw } }),
  }
}

function calling(name: string, fixture: string, calls: Seen['calls'], raw?: PairNote): Case {
  return dialect(name, { fixture, usage: null, sees: { text: '', calls, finish: 'tool-calls' }, ...(raw && { raw }) })
}

export const dialects: Group = {
  name: 'Dialects of chat-completions providers',
  cases: [
    dialect('usage on the last chunk with content, cache hits in a field of its own', {
      fixture: 'deepseek-reasoning',
      usage: usage(10, 9, { cacheRead: 20, reasoning: 6 }),
      sees: { text: 'Yes', reasoning: 'Hm, yes.' },
      raw: RAW,
    }),
    dialect('reasoning beside the completion', {
      fixture: 'xai-reasoning',
      usage: usage(12, 229, { reasoning: 228 }),
      sees: { text: 'Hi', reasoning: 'a' },
      raw: RAW,
    }),
    dialect('reasoning in another field, usage in an extension', {
      fixture: 'groq-reasoning',
      usage: usage(5, 4),
      sees: { text: 'Ok', reasoning: 'Think' },
      raw: { lost: AS_SENT, sees: { reasoning: '' } },
    }),
    dialect('content as a list of thoughts and texts', {
      fixture: 'mistral-thinking',
      usage: usage(10, 20),
      sees: { text: 'Done.', reasoning: 'Let me see.' },
    }),
    dialect('an empty first chunk', { fixture: 'azure-first-chunk', usage: USUAL, sees: { text: 'Hi' }, raw: RAW }),
    dialect('usage inside the choice', {
      fixture: 'moonshot-usage-in-choice',
      usage: usage(2, 2, { cacheRead: 6 }),
      sees: { text: 'Hi' },
    }),
    dialect('usage repeated, broken and zero', {
      fixture: 'usage-many-ways',
      usage: usage(10, 4),
      sees: { text: 'abc' },
    }),
    dialect('a byte order mark, comments and CRLF', {
      fixture: 'text-crlf-bom',
      usage: USUAL,
      sees: { text: 'Hello wörld 👋' },
    }),
    dialect('the role on every chunk', { fixture: 'role-repeated', usage: USUAL, sees: { text: 'Hello!' } }),
    dialect('no [DONE]', { fixture: 'no-done', usage: USUAL, sees: { text: 'Hi' } }),
    dialect('a whole call without index beside finish and usage', {
      fixture: 'mistral-whole-tool',
      usage: usage(124, 22),
      sees: { text: '', calls: [call('weather', { location: 'Paris' })], finish: 'tool-calls' },
    }),
    dialect('two whole calls without index', {
      fixture: 'mistral-two-whole-tools',
      usage: usage(124, 22),
      sees: {
        text: '',
        calls: [call('weather', { location: 'Paris' }), call('weather', { location: 'Rome' })],
        finish: 'tool-calls',
      },
    }),
    calling('calls without index and id, ended by “stop”', 'gemini-shim-no-index', OSLO_ROME, STOPPED),
    calling('calls with signatures, ended by “stop”', 'gemini-shim-tools', OSLO_ROME, STOPPED),
    calling('fragments without index', 'no-index-fragments', [call('one', { a: 1 })]),
    calling('the id on every fragment', 'repeated-id', [call('one', { a: 1 })]),
    calling('fragments of two calls in turns', 'interleaved-tools', [call('one', { a: 1 }), call('two', { b: 2 })]),
    calling('the deprecated function call', 'legacy-function-call', [call('one', { a: 1 })], {
      isRaw: true,
      lost: AS_SENT,
      sees: { calls: [], finish: 'failed' },
    }),
    {
      ...calling('calls that count from 1', 'tool-index-from-one', [call('look', { q: 1 })]),
      sees: { text: 'Let me look.', calls: [call('look', { q: 1 })], finish: 'tool-calls' },
    },
    failing('an error event', 'error-event', { fails: { status: 503, message: 'overloaded' } }),
    failing('an error in another vendor’s shape', 'error-in-google-shape', {
      fails: { status: 503, message: 'overloaded' },
    }),
    failing('nothing but [DONE]', 'only-done', { fails: { status: 502, message: 'failed to answer' } }),
    failing('an event that is no JSON', 'malformed-json', {
      failsInStream: { message: 'failed to answer', textBefore: 'Hel' },
    }),
  ],
}

function failing(name: string, fixture: string, failure: Pick<Case, 'fails' | 'failsInStream'>): Case {
  return {
    name,
    asks: ASKS,
    answer: { fixture, usage: null },
    providers: ['chat-completions'],
    modes: ['stream'],
    isFaulty: true,
    ...failure,
  }
}
