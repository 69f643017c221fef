/** How hard to think, and who gets to read what was thought. */
import type { Case, Group } from '@test/matrix/types'
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'
import { answer, ask, askWithTools, TEXT, USAGE } from './words'

type Wishes = { chat?: string; messages?: JsonObject; gemini?: JsonObject; responses?: JsonObject }

/** The same wish in each format that can say it, with room to think. */
function think({ chat, messages, gemini, responses }: Wishes): Partial<Record<FormatName, JsonObject>> {
  const room = 4096
  const all = ask({
    chat: { max_completion_tokens: room, ...(chat && { reasoning_effort: chat }) },
    messages: { max_tokens: room, ...messages },
    gemini: { generationConfig: { maxOutputTokens: room, ...(gemini && { thinkingConfig: gemini }) } },
    responses: { max_output_tokens: room, ...(responses && { reasoning: responses }) },
  })
  return {
    ...(chat !== undefined && { 'chat-completions': all['chat-completions'] }),
    ...(messages && { messages: all.messages }),
    ...(gemini && { 'generate-content': all['generate-content'] }),
    ...(responses && { responses: all.responses }),
  }
}

const adaptive = (effort: string, display = 'summarized') => ({
  thinking: { type: 'adaptive', display },
  output_config: { effort },
})
const shown = (effort: string) => ({ effort, summary: 'auto' })
const budget = (tokens: number) => ({ thinking: { type: 'enabled', budget_tokens: tokens } })
const ADAPTIVE = { messages: ['adaptive-thinking'] }
const BUDGETS = { 'generate-content': ['thinking-budget'] }
const room = (fields: Wishes) =>
  think({ chat: '', messages: {}, gemini: {}, responses: { summary: 'auto' }, ...fields })

const REFUSED = 'omitted: the model refuses it'
const UNSHOWN = { lost: 'not shown' }
const SHOWN = { text: 'Four.', reasoning: 'Two and two is four.' }
const REASONED = answer('reasoning', { usage: { ...USAGE, reasoning: 5 } })
const HIDDEN = answer('reasoning-hidden', { usage: { ...USAGE, reasoning: 5 } })

function effort(name: string, word: string, level: string, lost?: string): Case {
  return {
    name,
    asks: think({
      chat: word,
      messages: adaptive(word),
      responses: shown(word),
      ...(lost === undefined && { gemini: { thinkingLevel: level, includeThoughts: true } }),
    }),
    ...(lost !== undefined && { golden: think({ gemini: { thinkingLevel: level, includeThoughts: true } }) }),
    quirks: ADAPTIVE,
    answer: REASONED,
    sees: SHOWN,
    ...(lost !== undefined && { pairs: { '*>generate-content': { lost } } }),
  }
}

export const reasoning: Group = {
  name: 'Reasoning',
  cases: [
    effort('low effort, shown', 'low', 'LOW'),
    effort('high effort, shown', 'high', 'HIGH'),
    effort('the highest effort', 'max', 'HIGH', 'becomes HIGH, the format’s maximum'),
    {
      name: 'effort, not shown',
      asks: think({
        messages: adaptive('medium', 'omitted'),
        gemini: { thinkingLevel: 'MEDIUM', includeThoughts: false },
        responses: { effort: 'medium' },
      }),
      golden: {
        ...think({ chat: 'medium', gemini: { thinkingLevel: 'MEDIUM' } }),
      },
      quirks: ADAPTIVE,
      answer: HIDDEN,
      sees: { text: 'Four.' },
    },
    {
      name: 'a budget, shown',
      asks: think({ messages: budget(2048), gemini: { thinkingBudget: 2048, includeThoughts: true } }),
      golden: think({ chat: 'low', responses: shown('low') }),
      quirks: BUDGETS,
      answer: REASONED,
      sees: SHOWN,
      pairs: {
        '*>chat-completions': { lost: 'becomes an effort' },
        '*>responses': { lost: 'becomes an effort' },
      },
    },
    {
      name: 'an effort, for a model with budgets',
      asks: think({ chat: 'medium', responses: shown('medium') }),
      golden: think({
        messages: budget(3276),
        gemini: { thinkingBudget: 8192, includeThoughts: true },
      }),
      quirks: BUDGETS,
      answer: REASONED,
      sees: SHOWN,
      pairs: {
        '*>messages': { lost: 'becomes a budget of at most four fifths of the output limit' },
        '*>generate-content': { lost: 'becomes a budget' },
      },
    },
    {
      name: 'a budget, for a model with efforts',
      asks: think({ messages: budget(2048), gemini: { thinkingBudget: 2048, includeThoughts: true } }),
      golden: think({ messages: adaptive('low'), gemini: { thinkingLevel: 'LOW', includeThoughts: true } }),
      quirks: ADAPTIVE,
      providers: ['messages', 'generate-content'],
      answer: REASONED,
      sees: SHOWN,
      pairs: {
        '*>*': { lost: 'becomes an effort' },
        'messages>messages': { lost: 'becomes an effort', receives: adaptive('low') },
      },
    },
    {
      name: 'adaptive thinking',
      asks: think({
        messages: { thinking: { type: 'adaptive', display: 'summarized' } },
        gemini: { thinkingBudget: -1, includeThoughts: true },
      }),
      golden: room({}),
      quirks: { ...ADAPTIVE, ...BUDGETS },
      answer: REASONED,
      sees: SHOWN,
      pairs: {
        'generate-content>messages': { receives: { thinking: { type: 'adaptive', display: 'summarized' } } },
        'messages>generate-content': {
          receives: {
            generationConfig: { maxOutputTokens: 4096, thinkingConfig: { thinkingBudget: -1, includeThoughts: true } },
          },
        },
      },
    },
    {
      name: 'none',
      asks: think({
        chat: 'none',
        messages: { thinking: { type: 'disabled' } },
        gemini: { thinkingBudget: 0 },
        responses: { effort: 'none' },
      }),
      quirks: BUDGETS,
      answer: TEXT,
    },
    {
      name: 'no reasoning, at a model that always reasons',
      asks: think({ chat: 'none', messages: { thinking: { type: 'disabled' } }, responses: { effort: 'none' } }),
      golden: think({ gemini: { thinkingLevel: 'MINIMAL' } }),
      providers: ['generate-content'],
      answer: TEXT,
      pairs: { '*>generate-content': { lost: 'becomes MINIMAL' } },
    },
    {
      name: 'a model that cannot reason',
      asks: think({
        chat: 'high',
        messages: adaptive('high'),
        gemini: { thinkingLevel: 'HIGH', includeThoughts: true },
        responses: shown('high'),
      }),
      golden: ask({
        chat: { max_completion_tokens: 4096 },
        messages: { max_tokens: 4096 },
        gemini: { generationConfig: { maxOutputTokens: 4096 } },
        responses: { max_output_tokens: 4096 },
      }),
      quirks: {
        'chat-completions': ['no-reasoning-effort'],
        messages: ['no-thinking'],
        'generate-content': ['no-thinking'],
        responses: ['no-reasoning'],
      },
      answer: TEXT,
      pairs: {
        '*>*': { lost: REFUSED },
        '*>responses': { receives: { include: undefined } },
        'chat-completions>chat-completions': { lost: REFUSED, receives: { reasoning_effort: undefined } },
        'messages>messages': { lost: REFUSED, receives: { thinking: undefined, output_config: undefined } },
        'generate-content>generate-content': {
          lost: REFUSED,
          receives: { generationConfig: { maxOutputTokens: 4096 } },
        },
        'responses>responses': { lost: REFUSED, receives: { reasoning: undefined, include: [] } },
      },
    },
    {
      name: 'a budget near the output limit',
      asks: {
        'generate-content': ask({ gemini: { generationConfig: { thinkingConfig: { thinkingBudget: 2048 } } } })[
          'generate-content'
        ],
      },
      golden: ask(),
      providers: ['messages'],
      answer: TEXT,
      pairs: { '*>messages': { lost: 'omitted: the format requires more output than thinking' } },
    },
    {
      name: 'reasoning and a forced call',
      asks: {
        'chat-completions': askWithTools({
          chat: { tool_choice: 'required', reasoning_effort: 'high', max_completion_tokens: 4096 },
        })['chat-completions'],
        'generate-content': askWithTools({
          gemini: {
            toolConfig: { functionCallingConfig: { mode: 'ANY' } },
            generationConfig: { maxOutputTokens: 4096, thinkingConfig: { thinkingLevel: 'HIGH' } },
          },
        })['generate-content'],
        responses: askWithTools({
          responses: { tool_choice: 'required', reasoning: { effort: 'high' }, max_output_tokens: 4096 },
        }).responses,
      },
      golden: { messages: askWithTools({ messages: { max_tokens: 4096, tool_choice: { type: 'any' } } }).messages },
      providers: ['messages'],
      answer: answer('tool-one'),
      sees: { text: '', calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }], finish: 'tool-calls' },
      pairs: { '*>messages': { lost: 'thinking is omitted: the format refuses both together' } },
    },
    {
      name: 'reasoning and sampling',
      asks: {
        'chat-completions': ask({
          chat: { max_completion_tokens: 4096, reasoning_effort: 'low', temperature: 0.3, top_p: 0.5 },
        })['chat-completions'],
        'generate-content': ask({
          gemini: {
            generationConfig: {
              maxOutputTokens: 4096,
              temperature: 0.3,
              topP: 0.5,
              thinkingConfig: { thinkingBudget: 2048, includeThoughts: true },
            },
          },
        })['generate-content'],
        responses: ask({
          responses: { max_output_tokens: 4096, reasoning: shown('low'), temperature: 0.3, top_p: 0.5 },
        }).responses,
      },
      golden: think({ messages: budget(2048) }),
      providers: ['messages'],
      answer: REASONED,
      sees: SHOWN,
      pairs: { '*>messages': { lost: 'sampling is omitted: the format refuses both together' } },
    },
    {
      name: 'reasoning without request',
      asks: ask(),
      answer: REASONED,
      sees: { text: 'Four.' },
      pairs: {
        'chat-completions>chat-completions': { sees: SHOWN },
        'chat-completions>messages': { sees: SHOWN },
        'chat-completions>generate-content': { sees: SHOWN },
        'chat-completions>responses': { sees: SHOWN },
        'responses>responses': { sees: SHOWN },
        'messages>messages': { sees: SHOWN },
        'generate-content>generate-content': { sees: SHOWN },
        'messages>chat-completions': UNSHOWN,
        'messages>generate-content': UNSHOWN,
        'messages>responses': UNSHOWN,
        'generate-content>chat-completions': UNSHOWN,
        'generate-content>messages': UNSHOWN,
        'generate-content>responses': UNSHOWN,
        'responses>chat-completions': UNSHOWN,
        'responses>messages': UNSHOWN,
        'responses>generate-content': UNSHOWN,
      },
    },
    {
      name: 'reasoning that is only counted',
      asks: think({
        chat: 'high',
        messages: adaptive('high'),
        gemini: { thinkingLevel: 'HIGH', includeThoughts: true },
        responses: shown('high'),
      }),
      quirks: ADAPTIVE,
      answer: HIDDEN,
      sees: { text: 'Four.' },
    },
  ],
}
