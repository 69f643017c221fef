/**
 * `@google/genai` as a client of the generate-content format. It rebuilds bodies from its own types, so the
 * case's body is put in at its `fetch`; its own bodies are tested in test/clients.
 */
import { FinishReason, type GenerateContentResponse, type GoogleGenAI } from '@google/genai'
import type { Finish, SeenCall } from '@test/matrix/types'
import type { JsonValue } from '@/lib/json'
import { type LibraryView, type MatrixClient, recordingFetch, type Sending, type Sent, viewOf } from './sending'

const FINISHES: Record<string, Finish> = {
  [FinishReason.STOP]: 'stop',
  [FinishReason.MAX_TOKENS]: 'length',
  [FinishReason.SAFETY]: 'refusal',
}

/** Any major whose interface is that of the newest one. */
export function createGenaiClient(Client: typeof GoogleGenAI): MatrixClient {
  return { send: (sending) => (sending.mode === 'array' ? sendForArray(sending) : send(Client, sending)) }
}

async function send(Client: typeof GoogleGenAI, { baseUrl, key, model, mode, body }: Sending): Promise<Sent> {
  const { fetch, recorded } = recordingFetch(() => body)
  const client = new Client({ apiKey: key, httpOptions: { baseUrl, fetch } })
  const view = await viewOf(async () => {
    const request = { model, contents: 'replaced by the case' }
    if (mode === 'json') return readResponses([await client.models.generateContent(request)])
    return readResponses(await Array.fromAsync(await client.models.generateContentStream(request)))
  })
  return { ...recorded(), view }
}

/** Without `alt=sse` the stream is a JSON array; curl and old clients ask so, the library never does. */
async function sendForArray({ baseUrl, key, model, body }: Sending) {
  const response = await fetch(`${baseUrl}/v1beta/models/${model}:streamGenerateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text(), view: undefined }
}

/** What `@google/genai` makes of an answer, in one piece or many, in the words of the matrix. */
export function readResponses(responses: GenerateContentResponse[]): LibraryView {
  const first = (response: GenerateContentResponse) => response.candidates?.find(({ index = 0 }) => index === 0)
  const parts = responses.flatMap((response) => first(response)?.content?.parts ?? [])
  const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
  const calls = parts.flatMap(({ functionCall }): SeenCall[] =>
    functionCall ? [{ name: functionCall.name ?? '', arguments: (functionCall.args ?? {}) as JsonValue }] : [],
  )
  const blocked = responses.some((response) => response.promptFeedback?.blockReason)
  const word = responses.map((response) => first(response)?.finishReason).findLast(Boolean)
  const finish = blocked ? 'refusal' : (FINISHES[word ?? ''] ?? 'failed')
  return { kind: 'answer', text, calls, finish: finish === 'stop' && calls.length > 0 ? 'tool-calls' : finish }
}
