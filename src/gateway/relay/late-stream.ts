/**
 * A stream whose first content takes long: its client is answered all the same and kept alive, so that no proxy between takes
 * the connection for dead, while it is still open which target will answer. What goes wrong by then is told inside the stream.
 */
import type { GatewayError } from '@/chat/error'
import type { AnswerContext } from '@/formats/format'
import type { ActiveStreams } from './active-streams'
import { streamHeaders } from './headers'
import { KEEP_ALIVE_MS, shuttingDown } from './relay-stream'
import type { Client } from './relayed'

/** Below what any proxy between takes for silence. */
export const LATE_AFTER_MS = 10_000

type LateStream = {
  client: Client
  context: AnswerContext
  /** What is known before anybody has answered. */
  headers: Record<string, string>
  /** The answer, whose body takes over as soon as it is there. */
  answering: Promise<Response>
  /** There will be none: takes care of the hold, and returns what the client is told. */
  onFailure(error: unknown): Promise<GatewayError>
}

type State = {
  /** Until the answer is there. */
  wait: LateStream | undefined
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  client: ReadableStreamDefaultController<Uint8Array> | undefined
  isGone: boolean
  stopTimers(): void
}

const encoder = new TextEncoder()

/** Answers with keep-alives, and then with the answer. */
export function answerLate(deps: { streams: Pick<ActiveStreams, 'add'> }, late: LateStream): Response {
  const { client, headers } = late
  const unregister = deps.streams.add(() => interrupt(state))
  const keepAlive = setInterval(() => send(state, client.framing.keepAlive), KEEP_ALIVE_MS)
  const state: State = {
    wait: late,
    reader: undefined,
    client: undefined,
    isGone: false,
    stopTimers() {
      clearInterval(keepAlive)
      unregister()
    },
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      state.client = controller
      send(state, client.framing.keepAlive)
    },
    pull: () => pump(state),
    cancel() {
      leave(state)
      return state.reader?.cancel()
    },
  })
  return new Response(body, { headers: { ...headers, ...streamHeaders(client.framing) } })
}

async function pump(state: State): Promise<void> {
  if (state.wait) await takeOver(state, state.wait)
  const piece = await state.reader?.read()
  if (state.isGone) return
  if (piece?.value) state.client?.enqueue(piece.value)
  else end(state)
}

/** From now on the answer's own stream keeps the client alive, and nothing of the waiting is kept. */
async function takeOver(state: State, { client, context, answering, onFailure }: LateStream): Promise<void> {
  try {
    const response = await answering
    state.reader = response.body?.getReader()
    if (state.isGone) await state.reader?.cancel()
  } catch (error) {
    const told = await onFailure(error)
    if (!state.isGone) send(state, errorText(client, context, told))
    client.onEnd?.()
  } finally {
    state.wait = undefined
    state.stopTimers()
  }
}

/** The process ends: what may still come is left to the books. */
function interrupt(state: State): void {
  const { wait } = state
  if (!wait || state.isGone) return
  send(state, errorText(wait.client, wait.context, shuttingDown()))
  end(state)
  leave(state)
}

/** An answer that comes all the same is ended as one whose client has left. */
function leave(state: State): void {
  const { wait } = state
  state.isGone = true
  state.stopTimers()
  state.wait = undefined
  if (!wait) return
  wait.answering.then(
    (response) => response.body?.cancel(),
    (error) => wait.onFailure(error),
  )
}

function errorText({ format, framing, requestId }: Client, context: AnswerContext, error: GatewayError): string {
  const frames = format.createStreamEncoder(context).fail(error, requestId)
  return framing.open + frames.map((frame, index) => framing.format(frame, index)).join('') + framing.close
}

function send(state: State, text: string): void {
  try {
    state.client?.enqueue(encoder.encode(text))
  } catch {
    // The client is gone and its hang-up is on its way to us.
  }
}

function end(state: State): void {
  try {
    state.client?.close()
  } catch {
    // The client hung up in this very moment.
  }
}
