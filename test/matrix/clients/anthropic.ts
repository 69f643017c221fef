/** `@anthropic-ai/sdk` as a client of the messages format. */
import type Anthropic from '@anthropic-ai/sdk'
import type { Finish } from '@test/matrix/types'
import type { JsonValue } from '@/lib/json'
import { type LibraryView, type MatrixClient, recordingFetch, type Sending, type Sent, viewOf } from './sending'

const FINISHES: Record<string, Finish> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  refusal: 'refusal',
  stop_sequence: 'stop-sequence',
  pause_turn: 'pause',
}

/** Any major whose interface is that of the newest one. */
export function createAnthropicClient(Client: typeof Anthropic): MatrixClient {
  return { send: (sending) => send(Client, sending) }
}

async function send(Client: typeof Anthropic, { baseUrl, key, model, mode, body }: Sending): Promise<Sent> {
  const { fetch, recorded } = recordingFetch()
  const client = new Client({ apiKey: key, baseURL: baseUrl, maxRetries: 0, fetch })
  const request = { ...body, model } as unknown as Anthropic.MessageCreateParamsNonStreaming
  const view = await viewOf(async () => {
    if (mode === 'json') return readMessage(await client.messages.create(request))
    return readMessage(await client.messages.stream(request).finalMessage())
  })
  return { ...recorded(), view }
}

/** What `@anthropic-ai/sdk` makes of a message, in the words of the matrix. */
export function readMessage(message: Anthropic.Message): LibraryView {
  const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const calls = message.content.flatMap((block) =>
    block.type === 'tool_use' ? [{ name: block.name, arguments: block.input as JsonValue }] : [],
  )
  return { kind: 'answer', text, calls, finish: FINISHES[message.stop_reason ?? ''] ?? 'failed' }
}
