/** `openai`, the newest major and the one before it. */

import OpenAI, { APIError } from 'openai'
import OpenAI6, { APIError as APIError6 } from 'openai-6'
import { type JsonValue, parseJson } from '@/lib/json'
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
  type ToolRun,
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
    runTools: (access, run) => runTools(open(access), run),
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

async function runTools(client: OpenAI, { model, system, prompt, isStream }: ToolRun): Promise<Talked> {
  const calls: Talked['calls'] = []
  const weather = {
    name: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    parameters: TOOL_SCHEMA,
    parse: (text: string) => parseJson(text) ?? null,
    function(input: JsonValue) {
      calls.push({ name: TOOL_NAME, arguments: input })
      return TOOL_RESULT
    },
  }
  const request = {
    model,
    messages: [
      { role: 'system' as const, content: system },
      { role: 'user' as const, content: prompt },
    ],
    tools: [{ type: 'function' as const, function: weather }],
  }
  const options = { maxChatCompletions: MAX_ROUNDS }
  const { completions } = client.chat
  const runner = isStream
    ? completions.runTools({ ...request, stream: true }, options)
    : completions.runTools(request, options)
  return { text: (await runner.finalContent()) ?? '', calls }
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
