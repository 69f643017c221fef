/** Output limits, sampling and stop sequences: carried, clamped to what the provider takes, or left out with a reason. */
import type { Group } from '@test/matrix/types'
import { answer, ask, TEXT } from './words'

const stops = (count: number) => Array.from({ length: count }, (_, index) => `STOP${index + 1}`)
/** The responses format knows no stop sequences, neither asked for nor taken. */
const NO_STOP = {
  refused: 'stop',
  because: 'the format has no stop sequences',
}
const TOP_K = { generationConfig: { maxOutputTokens: 100, topK: 40 } }
function stopAsks(count: number) {
  const { responses: _, ...asks } = ask({
    chat: { stop: stops(count) },
    messages: { stop_sequences: stops(count) },
    gemini: { generationConfig: { stopSequences: stops(count) } },
  })
  return asks
}
const chatOnly = (fields: Parameters<typeof ask>[0]) => ({ 'chat-completions': ask(fields)['chat-completions'] })
const plain = ask()
const LOGPROBS = {
  'chat-completions': ask({ chat: { logprobs: true, top_logprobs: 2 } })['chat-completions'],
  'generate-content': ask({ gemini: { generationConfig: { responseLogprobs: true, logprobs: 2 } } })[
    'generate-content'
  ],
  responses: ask({ responses: { include: ['message.output_text.logprobs'], top_logprobs: 2 } }).responses,
}
const NO_LOGPROBS = { refused: 'cannot carry', because: 'the format has no log probabilities' }
const NO_SAMPLING = {
  lost: 'omitted: the model refuses them',
  receives: { temperature: undefined, top_p: undefined },
}

export const limits: Group = {
  name: 'Limits and sampling',
  cases: [
    {
      name: 'no output limit',
      asks: {
        'chat-completions': { messages: [{ role: 'user', content: 'Hi' }] },
        'generate-content': { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
        responses: { input: [{ role: 'user', content: 'Hi' }] },
      },
      golden: { messages: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 32_768 } },
      answer: TEXT,
      pairs: { '*>messages': { lost: 'the model’s limit is added' } },
    },
    {
      name: 'an output limit in the older field',
      asks: chatOnly({ chat: { max_completion_tokens: undefined, max_tokens: 100 } }),
      golden: plain,
      answer: TEXT,
    },
    {
      name: 'an output limit, for a provider with the older field',
      asks: plain,
      quirks: { 'chat-completions': ['max_tokens'] },
      providers: ['chat-completions'],
      golden: { 'chat-completions': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 } },
      answer: TEXT,
      pairs: {
        'chat-completions>chat-completions': { receives: { max_tokens: 100, max_completion_tokens: undefined } },
      },
    },
    {
      name: 'temperature, top_p',
      asks: ask({
        chat: { temperature: 0.3, top_p: 0.9 },
        messages: { temperature: 0.3, top_p: 0.9 },
        gemini: { generationConfig: { temperature: 0.3, topP: 0.9 } },
        responses: { temperature: 0.3, top_p: 0.9 },
      }),
      answer: TEXT,
    },
    {
      name: 'temperature above 1',
      asks: {
        'chat-completions': ask({ chat: { temperature: 1.7 } })['chat-completions'],
        'generate-content': ask({ gemini: { generationConfig: { temperature: 1.7 } } })['generate-content'],
        responses: ask({ responses: { temperature: 1.7 } }).responses,
      },
      golden: { messages: ask({ messages: { temperature: 1 } }).messages },
      answer: TEXT,
      pairs: { '*>messages': { lost: 'lowered to 1, the format’s maximum' } },
    },
    {
      name: 'sampling, at a model that takes none',
      asks: ask({
        chat: { temperature: 0.3, top_p: 0.9 },
        messages: { temperature: 0.3, top_p: 0.9 },
        gemini: { generationConfig: { temperature: 0.3, topP: 0.9 } },
        responses: { temperature: 0.3, top_p: 0.9 },
      }),
      quirks: { 'chat-completions': ['no-sampling'], messages: ['no-sampling'], responses: ['no-sampling'] },
      providers: ['chat-completions', 'messages', 'responses'],
      golden: plain,
      answer: TEXT,
      pairs: {
        '*>*': { lost: 'omitted: the model refuses them' },
        'chat-completions>chat-completions': NO_SAMPLING,
        'messages>messages': NO_SAMPLING,
        'responses>responses': NO_SAMPLING,
      },
    },
    {
      name: 'top_k',
      asks: {
        messages: ask({ messages: { top_k: 40 } }).messages,
        'generate-content': ask({ gemini: { generationConfig: { topK: 40 } } })['generate-content'],
      },
      golden: plain,
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: 'omitted' },
        '*>responses': { lost: 'omitted' },
        'messages>generate-content': { receives: TOP_K },
        'generate-content>messages': { receives: { top_k: 40 } },
      },
    },
    {
      name: 'penalties and seed',
      asks: {
        'chat-completions': ask({ chat: { frequency_penalty: 0.5, presence_penalty: -0.5, seed: 7 } })[
          'chat-completions'
        ],
        'generate-content': ask({
          gemini: { generationConfig: { frequencyPenalty: 0.5, presencePenalty: -0.5, seed: 7 } },
        })['generate-content'],
      },
      golden: { messages: plain.messages, responses: plain.responses },
      answer: TEXT,
      pairs: {
        '*>messages': { lost: 'omitted' },
        '*>responses': { lost: 'omitted' },
      },
    },
    {
      name: 'log probabilities, in a whole answer',
      modes: ['json'],
      asks: LOGPROBS,
      answer: TEXT,
      pairs: { '*>messages': NO_LOGPROBS },
    },
    {
      name: 'log probabilities, in a stream',
      modes: ['stream', 'array'],
      asks: LOGPROBS,
      answer: TEXT,
      pairs: { '*>*': { refused: 'cannot carry', because: 'not in streams of other formats' } },
    },
    {
      name: 'log probabilities, with `svc.lossy`',
      asks: {
        'chat-completions': { ...LOGPROBS['chat-completions'], svc: { lossy: true } },
        'generate-content': { ...LOGPROBS['generate-content'], svc: { lossy: true } },
        responses: { ...LOGPROBS.responses, svc: { lossy: true } },
      },
      golden: plain,
      providers: ['messages'],
      answer: TEXT,
      pairs: { '*>messages': { lost: 'omitted, and named in `x-svc-left-out`' } },
    },
    {
      name: 'several answers at once',
      asks: {
        'chat-completions': ask({ chat: { n: 2 } })['chat-completions'],
        'generate-content': ask({ gemini: { generationConfig: { candidateCount: 2 } } })['generate-content'],
      },
      answer: answer('two-answers'),
      sees: { text: 'Heads', others: ['Tails'] },
      pairs: {
        '*>messages': { refused: 'must be 1', because: 'the format has one answer' },
        '*>responses': { refused: 'one answer to a request', because: 'the format has one answer' },
      },
    },
    {
      name: 'one stop sequence',
      asks: stopAsks(1),
      answer: answer('stop-sequence'),
      sees: { text: 'one, two,' },
      pairs: {
        '*>responses': NO_STOP,
        'messages>messages': { sees: { finish: 'stop-sequence' } },
        'messages>chat-completions': { lost: 'the answer does not name the stop sequence' },
        'messages>generate-content': { lost: 'the answer does not name the stop sequence' },
      },
    },
    {
      name: 'a stop sequence as a plain text',
      asks: chatOnly({ chat: { stop: 'STOP1' } }),
      golden: stopAsks(1),
      answer: TEXT,
      pairs: { '*>responses': NO_STOP },
    },
    { name: 'four stop sequences', asks: stopAsks(4), answer: TEXT, pairs: { '*>responses': NO_STOP } },
    {
      name: 'five stop sequences',
      asks: { messages: stopAsks(5).messages, 'generate-content': stopAsks(5)['generate-content'] },
      answer: TEXT,
      pairs: { '*>chat-completions': { refused: 'at most 4 stop sequences' }, '*>responses': NO_STOP },
    },
    {
      name: 'stop sequences of white space',
      asks: {
        'chat-completions': ask({ chat: { stop: ['\n\n', 'STOP1'] } })['chat-completions'],
        'generate-content': ask({ gemini: { generationConfig: { stopSequences: ['\n\n', 'STOP1'] } } })[
          'generate-content'
        ],
      },
      golden: { messages: stopAsks(1).messages },
      answer: TEXT,
      pairs: {
        '*>messages': { lost: 'omitted: the format refuses them' },
        '*>responses': NO_STOP,
      },
    },
    {
      name: 'the end user’s id',
      asks: {
        'chat-completions': ask({ chat: { user: 'user-7' } })['chat-completions'],
        messages: ask({ messages: { metadata: { user_id: 'user-7' } } }).messages,
        responses: ask({ responses: { safety_identifier: 'user-7' } }).responses,
      },
      golden: { 'generate-content': plain['generate-content'] },
      answer: TEXT,
      pairs: { '*>generate-content': { lost: 'omitted' } },
    },
    {
      name: 'service tier',
      asks: {
        'chat-completions': ask({ chat: { service_tier: 'default' } })['chat-completions'],
        messages: ask({ messages: { service_tier: 'standard_only' } }).messages,
        responses: ask({ responses: { service_tier: 'default' } }).responses,
      },
      golden: { 'generate-content': plain['generate-content'] },
      answer: TEXT,
      pairs: { '*>generate-content': { lost: 'omitted: tiers differ between formats' } },
    },
  ],
}
