/** A provider that does exactly what a test's script says, remembers every call, and keeps its own bill. */
import { parseJson } from '@/lib/json'

/** One call as the provider saw it. */
export type UpstreamCall = {
  path: string
  headers: Headers
  /** The body as it came, and parsed. */
  text: string
  body: Record<string, unknown>
  /** The body of a form. */
  form?: FormData
  /** Whether the gateway went away before the answer was complete. */
  readonly isAborted: boolean
}

export type Respond = (call: UpstreamCall, index: number) => Response | Promise<Response>

export interface ScriptedUpstream {
  readonly url: string
  readonly calls: UpstreamCall[]
  /** Changes what the next calls get. */
  respond(script: Respond): void
  stop(): void
}

/** Starts a scripted provider on a free loopback port. */
export function startUpstream(script: Respond): ScriptedUpstream {
  let current = script
  const calls: UpstreamCall[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    // Otherwise each scripted break is printed with its stack.
    development: false,
    async fetch(request) {
      const isForm = request.headers.get('content-type')?.startsWith('multipart/form-data') === true
      const form = isForm ? await request.formData().catch(() => undefined) : undefined
      const text = isForm ? '' : await request.text().catch(() => '')
      const call = {
        path: new URL(request.url).pathname + new URL(request.url).search,
        headers: request.headers,
        text,
        body: (parseJson(text) ?? {}) as Record<string, unknown>,
        isAborted: false,
        ...(form && { form }),
      }
      request.signal.addEventListener('abort', () => {
        call.isAborted = true
      })
      calls.push(call)
      return current(call, calls.length - 1)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    calls,
    respond(next) {
      current = next
    },
    stop: () => void server.stop(true),
  }
}

/** An event stream that a test writes to as it goes. */
export type LiveStream = { response: Response; write(text: string): void; close(): void; error(): void }

/** Opens a live event stream. */
export function liveStream(headers: Record<string, string> = {}): LiveStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(created) {
      controller = created
    },
  })
  return {
    response: new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } }),
    write: (text) => controller?.enqueue(encoder.encode(text)),
    close: () => controller?.close(),
    error: () => controller?.error(new Error('scripted break')),
  }
}

/** A whole event stream in one piece. */
export function eventStream(...events: unknown[]): Response {
  const text = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

type Usage = { prompt_tokens: number; completion_tokens: number; total_tokens: number }

/** A chat-completions usage object. */
export function usageOf(promptTokens: number, completionTokens: number): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

/** A complete chat-completions answer. */
export function chatCompletion(content: string, usage: Usage | null = usageOf(10, 5), model = 'alpha-upstream') {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion',
    created: 1_760_000_000,
    model,
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
    ...(usage && { usage }),
    service_tier: 'default',
  }
}

/** One chat-completions chunk. */
export function chatChunk(
  delta: Record<string, unknown>,
  finishReason: string | null = null,
  model = 'alpha-upstream',
) {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: null,
  }
}

/** The usage chunk that follows the finish chunk. */
export function usageChunk(usage: Usage = usageOf(10, 5), model = 'alpha-upstream') {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model,
    choices: [],
    usage,
  }
}

/** The usual stream: role, one chunk per word, finish, usage, `[DONE]`. */
export function chatStream(words: string[], usage: Usage | null = usageOf(10, 5)): unknown[] {
  return [
    chatChunk({ role: 'assistant', content: '', refusal: null }),
    ...words.map((word) => chatChunk({ content: word })),
    chatChunk({}, 'stop'),
    ...(usage ? [usageChunk(usage)] : []),
    '[DONE]',
  ]
}
