/** `@anthropic-ai/sdk`, the newest major and the one before it. */
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import Anthropic0, { APIError as APIError0 } from 'anthropic-0'
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
  type ToolRun,
  thrownBy,
} from './library'

export const anthropicLibraries: Library[] = [
  anthropicLibrary('@anthropic-ai/sdk 1', Anthropic, APIError),
  anthropicLibrary(
    '@anthropic-ai/sdk 0',
    Anthropic0 as unknown as typeof Anthropic,
    APIError0 as unknown as typeof APIError,
  ),
]

const MAX_TOKENS = 1024
const TOOLS: Anthropic.Tool[] = [{ name: TOOL_NAME, description: TOOL_DESCRIPTION, input_schema: TOOL_SCHEMA }]

function anthropicLibrary(name: string, Client: typeof Anthropic, ErrorClass: typeof APIError): Library {
  const open = ({ baseUrl, key }: Access) => new Client({ apiKey: key, baseURL: baseUrl, maxRetries: 0 })
  const hi: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }]
  return {
    name,
    family: 'messages',
    talk: (access, talk) => converse(open(access), talk),
    fail: (access, model, isStream = false) =>
      thrownBy(() => ask(open(access), hi, { model, isStream, withTools: false }), ErrorClass),
    runTools: (access, run) => runTools(open(access), run),
    async listModels(access) {
      const models = await Array.fromAsync(open(access).models.list({ limit: 1000 }))
      return models.map((model) => model.id)
    },
    getModel: async (access, model) => (await open(access).models.retrieve(model)).id,
    countTokens: async (access, model) =>
      (await open(access).messages.countTokens({ model, messages: hi })).input_tokens,
  }
}

async function converse(client: Anthropic, talk: Talk): Promise<Talked> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: talk.prompt }]
  const talked: Talked = { text: '', calls: [] }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { content } = await ask(client, messages, talk)
    const calls = content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) {
      return { ...talked, text: content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
    }
    messages.push({ role: 'assistant', content })
    talked.calls.push(...calls.map(({ name, input }) => ({ name, arguments: input as JsonValue })))
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: TOOL_RESULT })),
    })
  }
  throw new Error('the conversation does not end')
}

async function runTools(client: Anthropic, { model, system, prompt, isStream }: ToolRun): Promise<Talked> {
  const calls: Talked['calls'] = []
  const weather = betaTool({
    name: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    inputSchema: TOOL_SCHEMA,
    run(input) {
      calls.push({ name: TOOL_NAME, arguments: input as JsonValue })
      return TOOL_RESULT
    },
  })
  const { content } = await client.beta.messages
    .toolRunner({
      ...{ model, system, max_tokens: MAX_TOKENS, max_iterations: MAX_ROUNDS, stream: isStream },
      messages: [{ role: 'user', content: prompt }],
      tools: [weather],
    })
    .runUntilDone()
  return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), calls }
}

async function ask(
  client: Anthropic,
  messages: Anthropic.MessageParam[],
  { model, isStream, withTools }: Omit<Talk, 'prompt'>,
): Promise<Anthropic.Message> {
  const request = { model, messages, max_tokens: MAX_TOKENS, ...(withTools && { tools: TOOLS }) }
  return isStream ? client.messages.stream(request).finalMessage() : client.messages.create(request)
}
