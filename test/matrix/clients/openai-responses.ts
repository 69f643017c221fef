/** `openai` as a client of the responses format. */
import type { Finish } from '@test/matrix/types'
import type OpenAI from 'openai'
import { type JsonValue, parseJson } from '@/lib/json'
import { type LibraryView, type MatrixClient, recordingFetch, type Sending, type Sent, viewOf } from './sending'

const REASONS: Record<string, Finish> = { max_output_tokens: 'length', content_filter: 'refusal' }

/** Any major whose interface is that of the newest one. */
export function createResponsesClient(Client: typeof OpenAI): MatrixClient {
  return { send: (sending) => send(Client, sending) }
}

async function send(Client: typeof OpenAI, { baseUrl, key, model, mode, body }: Sending): Promise<Sent> {
  const { fetch, recorded } = recordingFetch()
  const client = new Client({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0, fetch })
  const request = { ...body, model } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming
  const view = await viewOf(async () => {
    if (mode === 'json') return readResponse(await client.responses.create(request))
    return readResponse(await client.responses.stream({ ...request, stream: true }).finalResponse())
  })
  return { ...recorded(), view }
}

/** What `openai` makes of a response, in the words of the matrix. */
export function readResponse(response: OpenAI.Responses.Response): LibraryView {
  const parts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const text = parts.map((part) => (part.type === 'output_text' ? part.text : part.refusal)).join('')
  const calls = response.output.flatMap((item) => {
    if (item.type === 'custom_tool_call') return [{ name: item.name, arguments: { input: item.input } }]
    return item.type === 'function_call' ? [{ name: item.name, arguments: parseJson(item.arguments) as JsonValue }] : []
  })
  const isRefused = parts.some(({ type }) => type === 'refusal')
  const wellDone: Finish = calls.length > 0 ? 'tool-calls' : isRefused ? 'refusal' : 'stop'
  const reason = response.incomplete_details?.reason ?? ''
  const finish = response.status === 'completed' ? wellDone : (REASONS[reason] ?? 'failed')
  return { kind: 'answer', text, calls, finish }
}
