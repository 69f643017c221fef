/** `openai` as a client of the chat-completions format. */
import type { Finish } from '@test/matrix/types'
import type OpenAI from 'openai'
import { type JsonValue, parseJson } from '@/lib/json'
import { type LibraryView, type MatrixClient, recordingFetch, type Sending, type Sent, viewOf } from './sending'

const FINISHES: Record<string, Finish> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'refusal',
}

/** Any major whose interface is that of the newest one. */
export function createOpenaiClient(Client: typeof OpenAI): MatrixClient {
  return { send: (sending) => send(Client, sending) }
}

async function send(Client: typeof OpenAI, { baseUrl, key, model, mode, body }: Sending): Promise<Sent> {
  const { fetch, recorded } = recordingFetch()
  const client = new Client({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0, fetch })
  const request = { ...body, model } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming
  const view = await viewOf(async () => {
    if (mode === 'json') return readCompletion(await client.chat.completions.create(request))
    const options = { include_usage: true }
    const stream = client.chat.completions.stream({ ...request, stream: true, stream_options: options })
    return readCompletion(await stream.finalChatCompletion())
  })
  return { ...recorded(), view }
}

/** What `openai` makes of a completion, in the words of the matrix. */
export function readCompletion(completion: OpenAI.ChatCompletion): LibraryView {
  const choice = completion.choices[0]
  const calls = (choice?.message.tool_calls ?? []).map((call) => {
    const { name, arguments: text } = call.type === 'function' ? call.function : { name: '', arguments: '' }
    return { name, arguments: parseJson(text) as JsonValue }
  })
  const text = (choice?.message.content ?? '') + (choice?.message.refusal ?? '')
  return { kind: 'answer', text, calls, finish: FINISHES[choice?.finish_reason ?? ''] ?? 'failed' }
}
