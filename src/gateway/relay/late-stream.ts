/** Keeps a stream's connection alive until its answer begins; the target may still change. A failure is sent inside the stream. */
import { type GatewayError, restarting } from '@/chat/error'
import type { AnswerContext } from '@/formats/format'
import type { ActiveStreams } from './active-streams'
import { streamHeaders } from './headers'
import { KEEP_ALIVE_MS } from './relay-stream'
import type { Client } from './relayed'

/** Time after which a stream that has not begun is kept alive: shorter than the idle timeout of any proxy. */
export const LATE_AFTER_MS = 10_000

type LateStream = {
  client: Client
  context: AnswerContext
  /** The headers known before an answer. */
  headers: Record<string, string>
  answering: Promise<Response>
  /** Called if there is no answer: ends the hold, and returns the client's error. */
  onFailure(error: unknown): Promise<GatewayError>
}

type State = {
  /** The stream that waits for its answer; undefined when the answer exists. */
  wait: LateStream | undefined
  client: TransformStreamDefaultController<Uint8Array> | undefined
  isGone: boolean
  stopTimers(): void
}

const encoder = new TextEncoder()

/** Sends keep-alives, then the answer. */
export function answerLate(deps: { streams: Pick<ActiveStreams, 'add'> }, late: LateStream): Response {
  const { client, headers } = late
  const unregister = deps.streams.add(() => interrupt(state))
  const keepAlive = setInterval(() => send(state, client.framing.keepAlive), KEEP_ALIVE_MS)
  const state: State = {
    wait: late,
    client: undefined,
    isGone: false,
    stopTimers() {
      clearInterval(keepAlive)
      unregister()
    },
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      state.client = controller
      send(state, client.framing.keepAlive)
    },
    cancel: () => leave(state),
  } as Transformer<Uint8Array, Uint8Array>)
  void answerOf(state, late).then((body) => takeOver(state, body, writable))
  return new Response(readable, { headers: { ...headers, ...streamHeaders(client.framing) } })
}

/** Passes the connection on to the answer's own stream, and releases all other resources. */
function takeOver(
  state: State,
  body: ReadableStream<Uint8Array> | undefined,
  client: WritableStream<Uint8Array>,
): Promise<void> | undefined {
  state.wait = undefined
  state.stopTimers()
  if (!body) return end(state)
  // If the client disconnects, the answer's stream is cancelled.
  return state.isGone ? body.cancel() : body.pipeTo(client).catch(() => undefined)
}

async function answerOf(
  state: State,
  { client, context, answering, onFailure }: LateStream,
): Promise<ReadableStream<Uint8Array> | undefined> {
  try {
    return (await answering).body ?? undefined
  } catch (error) {
    const told = await onFailure(error)
    if (!state.isGone) send(state, errorText(client, context, told))
    client.onEnd()
    return undefined
  }
}

function interrupt(state: State): void {
  const { wait } = state
  if (!wait || state.isGone) return
  send(state, errorText(wait.client, wait.context, restarting()))
  end(state)
  leave(state)
}

/** Stops the keep-alives. An answer that still arrives will be cancelled, as after a disconnect. */
function leave(state: State): void {
  state.isGone = true
  state.stopTimers()
}

function errorText({ format, framing, requestId }: Client, context: AnswerContext, error: GatewayError): string {
  const frames = format.createStreamEncoder(context).fail(error, requestId)
  return framing.open + frames.map((frame, index) => framing.format(frame, index)).join('') + framing.close
}

function send(state: State, text: string): void {
  try {
    state.client?.enqueue(encoder.encode(text))
  } catch {
    // The client disconnected, and the event for that is still to come.
  }
}

function end(state: State): undefined {
  try {
    state.client?.terminate()
  } catch {
    // The client disconnected at this moment.
  }
}
