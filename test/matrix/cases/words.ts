/** What the cases have in common: the plain question in each format, the plain answer, and the usage that answers report. */
import type { Answer } from '@test/matrix/types'
import type { FormatName } from '@/chat/format-name'
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import { isJsonObject, type JsonObject } from '@/lib/json'

/** 20 tokens in, 8 out: what every fixture of the matrix reports unless its name says otherwise. */
export const USAGE: Usage = { ...ZERO_USAGE, uncached: 20, output: 8 }

/** The plain text answer. */
export const TEXT: Answer = { fixture: 'matrix/text', usage: USAGE }

/** An answer of the matrix's own fixtures. */
export function answer(name: string, more: Partial<Answer> = {}): Answer {
  return { fixture: `matrix/${name}`, usage: USAGE, ...more }
}

type Asks = Record<FormatName, JsonObject>
type Fields = { chat?: JsonObject; messages?: JsonObject; gemini?: JsonObject; responses?: JsonObject }

/** The plain question with further fields; `generationConfig` is filled up, everything else replaced. */
export function ask({ chat = {}, messages = {}, gemini = {}, responses = {} }: Fields = {}): Asks {
  const { generationConfig, ...rest } = gemini
  return {
    'chat-completions': { messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 100, ...chat },
    messages: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100, ...messages },
    'generate-content': {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      ...rest,
      generationConfig: { maxOutputTokens: 100, ...(isJsonObject(generationConfig) && generationConfig) },
    },
    responses: { input: [{ role: 'user', content: 'Hi' }], max_output_tokens: 100, ...responses },
  }
}

/** The conversation of each format, with the limits of the plain question. */
export function converse(chat: JsonObject[], messages: JsonObject[], gemini: JsonObject[], input: JsonObject[]): Asks {
  return ask({ chat: { messages: chat }, messages: { messages }, gemini: { contents: gemini }, responses: { input } })
}

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const ZONE_SCHEMA = { type: 'object', properties: { zone: { type: 'string' } } }

/** The tools that most cases offer, as each format declares them. */
export const TOOLS = {
  chat: [
    { type: 'function', function: { name: 'get_weather', description: 'The weather now', parameters: SCHEMA } },
    { type: 'function', function: { name: 'get_time', parameters: ZONE_SCHEMA } },
  ],
  messages: [
    { name: 'get_weather', description: 'The weather now', input_schema: SCHEMA },
    { name: 'get_time', input_schema: ZONE_SCHEMA },
  ],
  gemini: [
    {
      functionDeclarations: [
        { name: 'get_weather', description: 'The weather now', parametersJsonSchema: SCHEMA },
        { name: 'get_time', parametersJsonSchema: ZONE_SCHEMA },
      ],
    },
  ],
  responses: [
    { type: 'function', name: 'get_weather', description: 'The weather now', parameters: SCHEMA },
    { type: 'function', name: 'get_time', parameters: ZONE_SCHEMA },
  ],
} satisfies Record<keyof Required<Fields>, JsonObject[]>

/** The tools beside what else is asked. */
export function askWithTools({ chat, messages, gemini, responses }: Fields = {}): Asks {
  return ask({
    chat: { tools: TOOLS.chat, ...chat },
    messages: { tools: TOOLS.messages, ...messages },
    gemini: { tools: TOOLS.gemini, ...gemini },
    responses: { tools: TOOLS.responses, ...responses },
  })
}

/** The outcome of a request that its provider can't take, where caller and provider speak the same format. */
export const AS_ASKED = 'sent unchanged: the caller gets the provider’s own refusal'
