/** The Vercel AI SDK with its provider for each family; the tool loop is the SDK's own. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateText, isStepCount, jsonSchema, type LanguageModel, streamText, tool } from 'ai'
import type { FormatName } from '@/chat/format-name'
import type { JsonValue } from '@/lib/json'
import {
  type Access,
  type Library,
  MAX_ROUNDS,
  type Talk,
  type Talked,
  TOOL_DESCRIPTION,
  TOOL_RESULT,
  TOOL_SCHEMA,
  thrownBy,
} from './library'

export const aiSdkLibraries: Library[] = [
  aiSdkLibrary('@ai-sdk/openai', 'chat-completions', ({ baseUrl, key }, model) =>
    createOpenAI({ apiKey: key, baseURL: `${baseUrl}/v1` }).chat(model),
  ),
  // What it takes where nothing else is said.
  aiSdkLibrary('@ai-sdk/openai, responses', 'responses', ({ baseUrl, key }, model) =>
    createOpenAI({ apiKey: key, baseURL: `${baseUrl}/v1` })(model),
  ),
  aiSdkLibrary('@ai-sdk/anthropic', 'messages', ({ baseUrl, key }, model) =>
    createAnthropic({ apiKey: key, baseURL: `${baseUrl}/v1` })(model),
  ),
  aiSdkLibrary('@ai-sdk/google', 'generate-content', ({ baseUrl, key }, model) =>
    createGoogle({ apiKey: key, baseURL: `${baseUrl}/v1beta` })(model),
  ),
]

const MAX_TOKENS = 1024

type Open = (access: Access, model: string) => LanguageModel

function aiSdkLibrary(name: string, family: FormatName, open: Open): Library {
  return {
    name,
    family,
    talk: (access, talk) => converse(open(access, talk.model), talk),
    runTools: (access, run) => converse(open(access, run.model), { ...run, withTools: true }),
    fail: (access, model, isStream = false) =>
      thrownBy(
        () => converse(open(access, model), { model, prompt: 'Hi', isStream, withTools: false }),
        APICallError,
        (error) => (error as { statusCode?: unknown }).statusCode,
      ),
  }
}

async function converse(model: LanguageModel, talk: Talk & { system?: string }): Promise<Talked> {
  const { prompt, isStream, withTools, system } = talk
  const calls: Talked['calls'] = []
  const weather = tool({
    description: TOOL_DESCRIPTION,
    inputSchema: jsonSchema<{ city: string }>(TOOL_SCHEMA),
    execute(input) {
      calls.push({ name: 'get_weather', arguments: input as JsonValue })
      return TOOL_RESULT
    },
  })
  const request = {
    model,
    prompt,
    ...(system && { system }),
    maxRetries: 0,
    maxOutputTokens: MAX_TOKENS,
    stopWhen: isStepCount(MAX_ROUNDS),
    ...(withTools && { tools: { get_weather: weather } }),
  }
  if (!isStream) return { text: (await generateText(request)).text, calls }
  let failure: unknown
  const result = streamText({
    ...request,
    onError({ error }) {
      failure = error
    },
  })
  await result.consumeStream()
  if (failure) throw failure
  return { text: await result.text, calls }
}
