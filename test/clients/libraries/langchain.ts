/** LangChain's model for OpenAI, speaking Responses. */
import { AIMessage, type AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import type { JsonValue } from '@/lib/json'
import {
  type Access,
  type Library,
  MAX_ROUNDS,
  type Talk,
  type Talked,
  TOOL_DESCRIPTION,
  TOOL_NAME,
  TOOL_RESULT,
  TOOL_SCHEMA,
  thrownBy,
} from './library'

export const langchainLibrary: Library = {
  name: '@langchain/openai, responses',
  family: 'responses',
  talk: converse,
  // It throws the errors of the library below it, with names of its own.
  fail: (access, model, isStream = false) =>
    thrownBy(() => converse(access, { model, prompt: 'Hi', isStream, withTools: false }), Error),
}

const WEATHER = {
  type: 'function' as const,
  function: { name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA },
}

async function converse({ baseUrl, key }: Access, { model, prompt, isStream, withTools }: Talk): Promise<Talked> {
  const configuration = { baseURL: `${baseUrl}/v1` }
  const chat = new ChatOpenAI({ model, apiKey: key, configuration, maxRetries: 0, useResponsesApi: true })
  const asked = withTools ? chat.bindTools([WEATHER]) : chat
  const messages: BaseMessage[] = [new HumanMessage(prompt)]
  const calls: Talked['calls'] = []
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = isStream ? await whole(await asked.stream(messages)) : await asked.invoke(messages)
    const asking = answer.tool_calls ?? []
    if (asking.length === 0) return { text: answer.text, calls }
    messages.push(answer)
    for (const { id = '', name, args } of asking) {
      calls.push({ name, arguments: args as JsonValue })
      messages.push(new ToolMessage({ content: TOOL_RESULT, tool_call_id: id }))
    }
  }
  throw new Error('the conversation does not end')
}

async function whole(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessage> {
  let message: AIMessageChunk | undefined
  for await (const chunk of chunks) message = message ? message.concat(chunk) : chunk
  return message ?? new AIMessage('')
}
