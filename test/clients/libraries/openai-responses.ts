/** `openai` speaking Responses, the newest major and the one before it; what it sends back is what it was given. */

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

export const openaiResponsesLibraries: Library[] = [
  openaiLibrary('openai 7, responses', OpenAI, APIError),
  openaiLibrary('openai 6, responses', OpenAI6 as unknown as typeof OpenAI, APIError6 as unknown as typeof APIError),
]

const TOOLS: OpenAI.Responses.Tool[] = [
  { type: 'function', name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA, strict: false },
]

type Input = OpenAI.Responses.ResponseInputItem[]

function openaiLibrary(name: string, Client: typeof OpenAI, ErrorClass: typeof APIError): Library {
  const open = ({ baseUrl, key }: Access) => new Client({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0 })
  return {
    name,
    family: 'responses',
    talk: (access, talk) => converse(open(access), talk),
    fail: (access, model, isStream = false) =>
      thrownBy(
        () => ask(open(access), [{ role: 'user', content: 'Hi' }], { model, isStream, withTools: false }),
        ErrorClass,
      ),
    countTokens: async (access, model) =>
      (await open(access).responses.inputTokens.count({ model, input: 'Hi' })).input_tokens,
  }
}

async function converse(client: OpenAI, talk: Talk): Promise<Talked> {
  const input: Input = [{ role: 'user', content: talk.prompt }]
  const talked: Talked = { text: '', calls: [] }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { output, output_text: text } = await ask(client, input, talk)
    const calls = output.filter((item) => item.type === 'function_call') as OpenAI.Responses.ResponseFunctionToolCall[]
    input.push(...(output as Input))
    for (const { name, arguments: argumentsText, call_id } of calls) {
      talked.calls.push({ name, arguments: parseJson(argumentsText) ?? null })
      input.push({ type: 'function_call_output', call_id, output: TOOL_RESULT })
    }
    if (calls.length === 0) return { ...talked, text }
  }
  throw new Error('the conversation does not end')
}

/** The stream helper throws on whatever is out of order. */
async function ask(client: OpenAI, input: Input, { model, isStream, withTools }: Omit<Talk, 'prompt'>) {
  const request = { model, input, ...(withTools && { tools: TOOLS }) }
  if (!isStream) return client.responses.create(request)
  // The helper counts a failed answer as one, and leaves the status to its caller.
  const response = await client.responses.stream({ ...request, stream: true }).finalResponse()
  if (response.status === 'failed') throw new Error(`failed: ${response.error?.message}`)
  return response
}
