/** The Vercel AI SDK's providers as readers of answers: below its loop, since a recorded call is of a tool that nobody has here. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { type LibraryView, type MatrixClient, type Sending, viewOf } from '@test/matrix/clients/sending'
import type { SeenCall } from '@test/matrix/types'
import type { FormatName } from '@/chat/format-name'
import { type JsonValue, parseJson } from '@/lib/json'

const MAX_TOKENS = 16_000

const OPEN = {
  'chat-completions': ({ baseUrl, key, model }: Sending) =>
    createOpenAI({ apiKey: key, baseURL: `${baseUrl}/v1` }).chat(model),
  responses: ({ baseUrl, key, model }: Sending) => createOpenAI({ apiKey: key, baseURL: `${baseUrl}/v1` })(model),
  messages: ({ baseUrl, key, model }: Sending) => createAnthropic({ apiKey: key, baseURL: `${baseUrl}/v1` })(model),
  'generate-content': ({ baseUrl, key, model }: Sending) =>
    createGoogle({ apiKey: key, baseURL: `${baseUrl}/v1beta` })(model),
}

/** Its provider for `family`. It asks in its own words; only its view is kept, and the status of an error. */
export function aiSdkClient(family: FormatName): MatrixClient {
  return {
    async send(sending) {
      const view = await viewOf(() => read(family, sending))
      const status = view.kind === 'failed' ? (view.status ?? 200) : 200
      return { status, headers: new Headers(), text: '', view }
    },
  }
}

async function read(family: FormatName, sending: Sending): Promise<LibraryView> {
  const model = OPEN[family](sending)
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }]
  const request = { prompt, maxOutputTokens: MAX_TOKENS }
  if (sending.mode === 'json') return seen(await withStatus(async () => (await model.doGenerate(request)).content))
  const { stream } = await withStatus(() => model.doStream(request))
  return seen(await Array.fromAsync(stream))
}

/** The SDK has a name of its own for the status. */
async function withStatus<T>(ask: () => PromiseLike<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const { statusCode, message } = error as { statusCode?: number; message: string }
    throw Object.assign(new Error(message), { status: statusCode })
  }
}

type Part = {
  type: string
  text?: string
  delta?: string
  toolName?: string
  input?: unknown
  /** The provider has run the tool itself. */
  providerExecuted?: boolean
  error?: unknown
}

function seen(parts: readonly unknown[]): LibraryView {
  let text = ''
  const calls: SeenCall[] = []
  for (const part of parts as readonly Part[]) {
    if (part.type === 'error') throw part.error
    if (part.type === 'text') text += part.text
    if (part.type === 'text-delta') text += part.delta
    if (part.type === 'tool-call' && !part.providerExecuted) {
      calls.push({ name: part.toolName ?? '', arguments: argumentsOf(part.input) })
    }
  }
  return { kind: 'answer', text, calls, finish: 'stop' }
}

/** The SDK gives a custom tool's text as if it were JSON, or as it is. */
function argumentsOf(input: unknown): JsonValue {
  const read = parseJson(String(input))
  if (read === undefined) return { input: String(input) }
  return typeof read === 'string' ? { input: read } : read
}
