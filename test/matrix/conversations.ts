/** A tool loop as each client library runs it: what it sends back is made of what it was given, whole or bare. */
import Anthropic from '@anthropic-ai/sdk'
import { type Content, GoogleGenAI, ThinkingLevel } from '@google/genai'
import OpenAI from 'openai'
import type { FormatName } from '@/chat/format-name'
import { assert } from '@/lib/assert'

type LoopOptions = {
  baseUrl: string
  key: string
  isStream: boolean
  /** Whether the client asks to see the reasoning. */
  isVisible: boolean
  /** `bare`: the client keeps only what its format has officially had from the start: texts, calls and results. */
  keeps: 'whole' | 'bare'
}

/** Asks `first`, answers its calls with "Sunny", and asks `second`. Both are model ids. */
type Loop = (options: LoopOptions, first: string, second: string) => Promise<void>

export const LOOPS: Record<FormatName, Loop> = {
  'chat-completions': openaiLoop,
  messages: anthropicLoop,
  'generate-content': genaiLoop,
  responses: responsesLoop,
}

const QUESTION = 'Weather?'
const RESULT = 'Sunny'
const MAX_TOKENS = 4096
const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } } }

async function openaiLoop(options: LoopOptions, first: string, second: string): Promise<void> {
  const { baseUrl, key, isStream, isVisible, keeps } = options
  const client = new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: QUESTION }]
  async function ask(model: string): Promise<OpenAI.ChatCompletionMessage> {
    const request = {
      model,
      messages,
      max_completion_tokens: MAX_TOKENS,
      tools: [{ type: 'function' as const, function: { name: 'get_weather', parameters: SCHEMA } }],
      ...(isVisible && { reasoning_effort: 'medium' as const }),
    }
    const completion = isStream
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request)
    const message = completion.choices[0]?.message
    assert(message, 'a completion has a choice')
    return message
  }
  const answer = await ask(first)
  const calls = (answer.tool_calls ?? []).filter((call) => call.type === 'function')
  const bare = calls.map(({ id, type, function: { name, arguments: text } }) => {
    return { id, type, function: { name, arguments: text } }
  })
  const kept = {
    ...answer,
    ...(isStream && {
      tool_calls: calls.map(({ function: called, ...call }) => ({
        ...call,
        function: { name: called.name, arguments: called.arguments },
      })),
    }),
  }
  messages.push(keeps === 'whole' ? kept : { role: 'assistant', content: answer.content, tool_calls: bare })
  for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: RESULT })
  await ask(second)
}

async function anthropicLoop(options: LoopOptions, first: string, second: string): Promise<void> {
  const { baseUrl, key, isStream, isVisible, keeps } = options
  const client = new Anthropic({ apiKey: key, baseURL: baseUrl, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }]
  async function ask(model: string): Promise<Anthropic.Message> {
    const request = {
      model,
      messages,
      max_tokens: MAX_TOKENS,
      tools: [{ name: 'get_weather', input_schema: SCHEMA }],
      ...(isVisible && {
        thinking: { type: 'adaptive' as const, display: 'summarized' as const },
        output_config: { effort: 'medium' as const },
      }),
    }
    return isStream ? client.messages.stream(request).finalMessage() : client.messages.create(request)
  }
  const answer = await ask(first)
  const isKept = (block: Anthropic.ContentBlock) =>
    keeps === 'whole' || (block.type !== 'thinking' && block.type !== 'redacted_thinking')
  messages.push({ role: 'assistant', content: answer.content.filter(isKept) })
  const calls = answer.content.filter((block) => block.type === 'tool_use')
  messages.push({
    role: 'user',
    content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: RESULT })),
  })
  await ask(second)
}

async function genaiLoop(options: LoopOptions, first: string, second: string): Promise<void> {
  const { baseUrl, key, isStream, isVisible, keeps } = options
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl } })
  const contents: Content[] = [{ role: 'user', parts: [{ text: QUESTION }] }]
  async function ask(model: string): Promise<Content> {
    const request = {
      model,
      contents,
      config: {
        maxOutputTokens: MAX_TOKENS,
        tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: SCHEMA }] }],
        ...(isVisible && { thinkingConfig: { thinkingLevel: ThinkingLevel.MEDIUM, includeThoughts: true } }),
      },
    }
    const responses = isStream
      ? await Array.fromAsync(await client.models.generateContentStream(request))
      : [await client.models.generateContent(request)]
    return { role: 'model', parts: responses.flatMap((response) => response.candidates?.[0]?.content?.parts ?? []) }
  }
  const answer = await ask(first)
  const parts = answer.parts ?? []
  const bare = parts.filter((part) => !part.thought).map(({ thoughtSignature: _, ...part }) => part)
  contents.push(keeps === 'whole' ? answer : { role: 'model', parts: bare.filter((part) => part.text !== '') })
  const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
  contents.push({
    role: 'user',
    parts: calls.map(({ id, name }) => ({
      functionResponse: { ...(id && { id }), ...(name && { name }), response: { output: RESULT } },
    })),
  })
  await ask(second)
}

async function responsesLoop(options: LoopOptions, first: string, second: string): Promise<void> {
  const { baseUrl, key, isStream, isVisible, keeps } = options
  const client = new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0 })
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: QUESTION }]
  async function ask(model: string): Promise<OpenAI.Responses.Response> {
    const request = {
      model,
      input,
      // What is not to be stored is not, signatures of calls included: who wants that keeps the conversation whole.
      store: keeps === 'bare',
      include: ['reasoning.encrypted_content' as const],
      max_output_tokens: MAX_TOKENS,
      tools: [{ type: 'function' as const, name: 'get_weather', parameters: SCHEMA, strict: false }],
      ...(isVisible && { reasoning: { effort: 'medium' as const, summary: 'auto' as const } }),
    }
    return isStream ? client.responses.stream(request).finalResponse() : client.responses.create(request)
  }
  const { output } = await ask(first)
  const calls = output.filter((item) => item.type === 'function_call')
  const bare = calls.map(({ type, call_id, name, arguments: text }) => ({ type, call_id, name, arguments: text }))
  input.push(...(keeps === 'whole' ? (output as OpenAI.Responses.ResponseInputItem[]) : bare))
  for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: RESULT })
  await ask(second)
}
