/** Calls and their results as each format keeps them in a history, for the cases about tools. */
import type { JsonObject } from '@/lib/json'
import { askWithTools } from './words'

export const user = { role: 'user', content: 'Weather?' }
export const geminiUser = { role: 'user', parts: [{ text: 'Weather?' }] }

type Call = { id: string; name: string; input: JsonObject }

export const OSLO: Call = { id: 'call_1', name: 'get_weather', input: { city: 'Oslo' } }
export const ROME: Call = { id: 'call_2', name: 'get_weather', input: { city: 'Rome' } }
export const NOW: Call = { id: 'call_3', name: 'get_time', input: {} }

export const chatCalls = (calls: Call[], content: string | null = null): JsonObject => ({
  role: 'assistant',
  content,
  tool_calls: calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  })),
})
export const chatResult = ({ id }: Call, content: string): JsonObject => ({ role: 'tool', tool_call_id: id, content })
export const uses = (calls: Call[]): JsonObject[] => calls.map((call) => ({ type: 'tool_use', ...call }))
export const result = ({ id }: Call, more: JsonObject): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  ...more,
})
export const functionCalls = (calls: Call[]): JsonObject[] =>
  calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }))
export const functionResponse = ({ id, name }: Call, response: JsonObject): JsonObject => ({
  functionResponse: { id, name, response },
})

export const callItems = (calls: Call[]): JsonObject[] =>
  calls.map(({ id, name, input }) => ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) }))
export const callOutput = ({ id }: Call, output: string): JsonObject => ({
  type: 'function_call_output',
  call_id: id,
  output,
})

/** The history of `calls` in each format, and what follows it. */
export function history(
  calls: Call[],
  chat: JsonObject[],
  messages: JsonObject[],
  gemini: JsonObject[],
  responses: JsonObject[],
) {
  return askWithTools({
    chat: { messages: [user, chatCalls(calls), ...chat] },
    messages: { messages: [user, { role: 'assistant', content: uses(calls) }, { role: 'user', content: messages }] },
    gemini: {
      contents: [geminiUser, { role: 'model', parts: functionCalls(calls) }, { role: 'user', parts: gemini }],
    },
    responses: { input: [user, ...callItems(calls), ...responses] },
  })
}

/** A result that says “Error: ” where the format has no mark for one. */
export const SAID_AS_TEXT = {
  messages: {
    receives: {
      messages: [
        user,
        { role: 'assistant', content: uses([OSLO]) },
        { role: 'user', content: [result(OSLO, { content: 'Error: No such city' })] },
      ],
    },
  },
  gemini: {
    receives: {
      contents: [
        geminiUser,
        { role: 'model', parts: functionCalls([OSLO]) },
        { role: 'user', parts: [functionResponse(OSLO, { output: 'Error: No such city' })] },
      ],
    },
  },
}
