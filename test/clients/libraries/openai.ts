/** `openai`, the newest major and the one before it. */

import OpenAI, { APIError } from 'openai'
import OpenAI6, { APIError as APIError6 } from 'openai-6'
import { parseJson } from '@/lib/json'
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

export const openaiLibraries: Library[] = [
  openaiLibrary('openai 7', OpenAI, APIError),
  openaiLibrary('openai 6', OpenAI6 as unknown as typeof OpenAI, APIError6 as unknown as typeof APIError),
]

const TOOLS: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA } },
]

function openaiLibrary(name: string, Client: typeof OpenAI, ErrorClass: typeof APIError): Library {
  const open = ({ baseUrl, key }: Access) => new Client({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0 })
  return {
    name,
    family: 'chat-completions',
    talk: (access, talk) => converse(open(access), talk),
    fail: (access, model, isStream = false) =>
      thrownBy(
        () => ask(open(access), [{ role: 'user', content: 'Hi' }], { model, isStream, withTools: false }),
        ErrorClass,
      ),
    async listModels(access) {
      const models = await Array.fromAsync(open(access).models.list())
      return models.map((model) => model.id)
    },
    getModel: async (access, model) => (await open(access).models.retrieve(model)).id,
  }
}

async function converse(client: OpenAI, talk: Talk): Promise<Talked> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: talk.prompt }]
  const talked: Talked = { text: '', calls: [] }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const message = await ask(client, messages, talk)
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
    messages.push(message)
    for (const { id, function: called } of calls) {
      talked.calls.push({ name: called.name, arguments: parseJson(called.arguments) ?? null })
      messages.push({ role: 'tool', tool_call_id: id, content: TOOL_RESULT })
    }
    if (calls.length === 0) return { ...talked, text: message.content ?? '' }
  }
  throw new Error('the conversation does not end')
}

async function ask(
  client: OpenAI,
  messages: OpenAI.ChatCompletionMessageParam[],
  { model, isStream, withTools }: Omit<Talk, 'prompt'>,
): Promise<OpenAI.ChatCompletionMessage> {
  const request = { model, messages, ...(withTools && { tools: TOOLS }) }
  const completion = isStream
    ? await client.chat.completions.stream(request).finalChatCompletion()
    : await client.chat.completions.create(request)
  const message = completion.choices[0]?.message
  if (!message) throw new Error('a completion without a choice')
  return message
}
