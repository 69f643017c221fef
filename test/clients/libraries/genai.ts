/** `@google/genai`, the newest major and the one before it. */
import { ApiError, type CallableTool, type Content, GoogleGenAI } from '@google/genai'
import { ApiError as ApiError2, GoogleGenAI as GoogleGenAI2 } from 'genai-2'
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

export const genaiLibraries: Library[] = [
  genaiLibrary('@google/genai 3', GoogleGenAI, ApiError),
  genaiLibrary(
    '@google/genai 2',
    GoogleGenAI2 as unknown as typeof GoogleGenAI,
    ApiError2 as unknown as typeof ApiError,
  ),
]

const TOOL = {
  functionDeclarations: [{ name: TOOL_NAME, description: TOOL_DESCRIPTION, parametersJsonSchema: TOOL_SCHEMA }],
}

function genaiLibrary(name: string, Client: typeof GoogleGenAI, ErrorClass: typeof ApiError): Library {
  const open = ({ baseUrl, key }: Access) => new Client({ apiKey: key, httpOptions: { baseUrl } })
  const hi: Content[] = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  return {
    name,
    family: 'generate-content',
    talk: (access, talk) => converse(open(access), talk),
    fail: (access, model, isStream = false) =>
      thrownBy(() => ask(open(access), hi, { model, isStream, withTools: false }), ErrorClass),
    runTools: (access, run) => runTools(open(access), run),
    async listModels(access) {
      const models = await Array.fromAsync(await open(access).models.list())
      return models.map((model) => model.name?.replace(/^models\//, '') ?? '')
    },
    getModel: async (access, model) => (await open(access).models.get({ model })).name?.replace(/^models\//, ''),
    countTokens: async (access, model) => (await open(access).models.countTokens({ model, contents: hi })).totalTokens,
  }
}

async function converse(client: GoogleGenAI, talk: Talk): Promise<Talked> {
  const contents: Content[] = [{ role: 'user', parts: [{ text: talk.prompt }] }]
  const talked: Talked = { text: '', calls: [] }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const parts = await ask(client, contents, talk)
    const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
    if (calls.length === 0) {
      return { ...talked, text: parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('') }
    }
    contents.push({ role: 'model', parts })
    talked.calls.push(...calls.map(({ name = '', args = {} }) => ({ name, arguments: args as JsonValue })))
    contents.push({
      role: 'user',
      parts: calls.map(({ id, name }) => ({
        functionResponse: { ...(id && { id }), ...(name && { name }), response: { output: TOOL_RESULT } },
      })),
    })
  }
  throw new Error('the conversation does not end')
}

async function runTools(client: GoogleGenAI, { model, system, prompt, isStream }: ToolRun): Promise<Talked> {
  const calls: Talked['calls'] = []
  const weather: CallableTool = {
    tool: async () => TOOL,
    async callTool(asked) {
      calls.push(...asked.map(({ name = '', args = {} }) => ({ name, arguments: args as JsonValue })))
      return asked.map(({ id, name = '' }) => ({
        functionResponse: { ...(id && { id }), name, response: { output: TOOL_RESULT } },
      }))
    },
  }
  const request = { model, contents: prompt, config: { systemInstruction: system, tools: [weather] } }
  if (!isStream) return { text: (await client.models.generateContent(request)).text ?? '', calls }
  const responses = await Array.fromAsync(await client.models.generateContentStream(request))
  const said = responses.flatMap((response) => response.candidates?.[0]?.content?.parts ?? [])
  return { text: said.map(({ text = '' }) => text).join(''), calls }
}

async function ask(client: GoogleGenAI, contents: Content[], { model, isStream, withTools }: Omit<Talk, 'prompt'>) {
  const request = { model, contents, ...(withTools && { config: { tools: [TOOL] } }) }
  const responses = isStream
    ? await Array.fromAsync(await client.models.generateContentStream(request))
    : [await client.models.generateContent(request)]
  return responses.flatMap((response) => response.candidates?.[0]?.content?.parts ?? [])
}
