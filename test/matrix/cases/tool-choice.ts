/** The choice among tools, in every variant that any format has. */
import type { Case, Group } from '@test/matrix/types'
import type { JsonObject } from '@/lib/json'
import { AS_ASKED, answer, ask, askWithTools, TEXT, TOOLS } from './words'

/** Without `svc.lossy` this is a 400. */
const UNVALIDATED = '`VALIDATED` is omitted if `svc.lossy` allows it'
const named = (name: string) => ({ type: 'function', function: { name } })
const calling = (mode: string, ...names: string[]) => ({
  toolConfig: { functionCallingConfig: { mode, ...(names.length > 0 && { allowedFunctionNames: names }) } },
})

const allowed = (mode: string, ...names: string[]) => ({
  tool_choice: { type: 'allowed_tools', mode, tools: names.map((name) => ({ type: 'function', name })) },
})

/** `flat` is how the responses format says it. */
function choice(
  name: string,
  chat: string | JsonObject,
  messages: JsonObject,
  gemini: JsonObject,
  flat: string | JsonObject,
): Case {
  return {
    name,
    asks: askWithTools({
      chat: { tool_choice: chat },
      messages: { tool_choice: messages },
      gemini,
      responses: { tool_choice: flat },
    }),
    answer: TEXT,
  }
}

const [WEATHER] = TOOLS.messages

export const toolChoice: Group = {
  name: 'Tool choice',
  cases: [
    choice('the model decides', 'auto', { type: 'auto' }, calling('AUTO'), 'auto'),
    choice('no tool', 'none', { type: 'none' }, calling('NONE'), 'none'),
    choice('some tool', 'required', { type: 'any' }, calling('ANY'), 'required'),
    choice('one certain tool', named('get_time'), { type: 'tool', name: 'get_time' }, calling('ANY', 'get_time'), {
      type: 'function',
      name: 'get_time',
    }),
    {
      name: 'some of the tools',
      asks: {
        'chat-completions': askWithTools({
          chat: {
            tool_choice: {
              type: 'allowed_tools',
              allowed_tools: { mode: 'auto', tools: [named('get_weather'), named('get_time')] },
            },
          },
        })['chat-completions'],
        'generate-content': askWithTools({
          gemini: { ...calling('VALIDATED', 'get_weather', 'get_time'), svc: { lossy: true } },
        })['generate-content'],
        responses: askWithTools({ responses: allowed('auto', 'get_weather', 'get_time') }).responses,
      },
      golden: {
        messages: { ...askWithTools().messages, tool_choice: { type: 'auto' } },
        'generate-content': askWithTools({ gemini: calling('VALIDATED', 'get_weather', 'get_time') })[
          'generate-content'
        ],
      },
      answer: TEXT,
      pairs: {
        '*>messages': { lost: 'the other tools are not sent' },
        'generate-content>messages': { lost: `the other tools are not sent, and ${UNVALIDATED}` },
        'generate-content>chat-completions': { lost: UNVALIDATED },
        'generate-content>responses': { lost: UNVALIDATED },
        'generate-content>generate-content': { receives: { svc: undefined } },
      },
    },
    {
      name: 'a required call of some tools',
      asks: {
        'chat-completions': askWithTools({
          chat: {
            tool_choice: {
              type: 'allowed_tools',
              allowed_tools: { mode: 'required', tools: [named('get_weather'), named('now')] },
            },
            tools: [
              ...TOOLS.chat,
              { type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } },
            ],
          },
        })['chat-completions'],
        'generate-content': askWithTools({
          gemini: {
            ...calling('ANY', 'get_weather', 'now'),
            tools: [{ functionDeclarations: [...(TOOLS.gemini[0]?.functionDeclarations ?? []), { name: 'now' }] }],
          },
        })['generate-content'],
        responses: askWithTools({
          responses: {
            ...allowed('required', 'get_weather', 'now'),
            tools: [
              ...TOOLS.responses,
              { type: 'function', name: 'now', parameters: { type: 'object', properties: {} } },
            ],
          },
        }).responses,
      },
      golden: {
        messages: {
          ...ask().messages,
          tools: [WEATHER ?? {}, { name: 'now', input_schema: { properties: {}, type: 'object' } }],
          tool_choice: { type: 'any' },
        },
      },
      answer: answer('tool-one'),
      sees: { text: '', calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }], finish: 'tool-calls' },
      pairs: { '*>messages': { lost: 'the other tools are not sent' } },
    },
    {
      name: 'some of the tools, at a provider without such a choice',
      asks: {
        'chat-completions': askWithTools({
          chat: {
            tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [named('get_weather')] } },
          },
        })['chat-completions'],
        'generate-content': askWithTools({
          gemini: { ...calling('VALIDATED', 'get_weather'), svc: { lossy: true } },
        })['generate-content'],
        responses: askWithTools({ responses: allowed('auto', 'get_weather') }).responses,
      },
      quirks: { 'chat-completions': ['no-allowed-tools'] },
      providers: ['chat-completions'],
      golden: {
        'chat-completions': { ...ask()['chat-completions'], tools: [TOOLS.chat[0] ?? {}], tool_choice: 'auto' },
      },
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: 'the other tools are not sent' },
        'generate-content>chat-completions': { lost: `the other tools are not sent, and ${UNVALIDATED}` },
        'chat-completions>chat-completions': { lost: AS_ASKED },
      },
    },
    {
      name: 'no parallel calls',
      asks: {
        'chat-completions': askWithTools({ chat: { parallel_tool_calls: false } })['chat-completions'],
        messages: askWithTools({ messages: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } })
          .messages,
        responses: askWithTools({ responses: { parallel_tool_calls: false } }).responses,
      },
      golden: { 'generate-content': askWithTools()['generate-content'] },
      answer: TEXT,
      pairs: {
        '*>generate-content': { lost: 'the format cannot forbid parallel calls' },
        'messages>chat-completions': { receives: { tool_choice: 'auto' } },
        'messages>responses': { receives: { tool_choice: 'auto' } },
        'messages>generate-content': { receives: calling('AUTO') },
      },
    },
    {
      name: 'a forced call without tools',
      asks: ask({
        chat: { tool_choice: 'required' },
        messages: { tool_choice: { type: 'any' } },
        gemini: calling('ANY'),
        responses: { tool_choice: 'required' },
      }),
      answer: TEXT,
      pairs: {
        '*>chat-completions': { refused: 'tool', because: 'there is no tool to call' },
        '*>messages': { refused: 'tool', because: 'there is no tool to call' },
        '*>generate-content': { refused: 'tool', because: 'there is no tool to call' },
        '*>responses': { refused: 'tool', because: 'there is no tool to call' },
      },
    },
  ],
}
