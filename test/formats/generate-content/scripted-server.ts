/** A gateway in miniature for the client library: every call is decoded, and answered with scripted events of the hub. */

import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import type { ChatRequest } from '@/chat/request'
import type { AnswerContext } from '@/formats/format'
import { decodeCountTokens } from '@/formats/generate-content/client-side/decode-request'
import { parseModelPath } from '@/formats/generate-content/client-side/models'
import { encodeCountTokens, generateContent, jsonArrayFraming } from '@/formats/generate-content/index'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { context } from './support'

export type Script = {
  /** What the next calls answer, in order; the last one again and again. */
  answers: (ChatEvent[] | GatewayError)[]
  /** What breaks the next stream after its last event. */
  failure?: GatewayError
  hasKeepAlives: boolean
  /** The body of every GET. */
  listed?: JsonObject
  /** The calls so far. */
  seen: { path: string; query: string; request: ChatRequest }[]
}

/** Starts the server on loopback; it does what `script` says at the time of each call. */
export function startScriptedServer(script: Script): { url: string; stop(): Promise<void> } {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => answer(request, script) })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

async function answer(request: Request, script: Script): Promise<Response> {
  const { answers, seen } = script
  const url = new URL(request.url)
  if (request.method === 'GET') return Response.json(script.listed)
  const path = parseModelPath(url.pathname)
  const body: unknown = await request.json()
  if (!path || !isJsonObject(body)) return Response.json({ path: url.pathname }, { status: 404 })
  if (path.verb === 'countTokens') {
    const counted = decodeCountTokens(body, { model: path.model })
    return Response.json(encodeCountTokens(counted.turns.length))
  }
  const decoded = generateContent.decodeRequest(body, { model: path.model, stream: path.verb !== 'generateContent' })
  seen.push({ path: url.pathname, query: url.search, request: decoded })
  const next = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
  if (next instanceof GatewayError) {
    const error = generateContent.encodeError(next, 'req_1')
    return Response.json(error.body, { status: error.status, headers: error.headers })
  }
  const answerContext = { ...context, wantsReasoning: decoded.reasoning?.visible === true }
  if (decoded.stream) return streamed(next, answerContext, url.searchParams.get('alt') === 'sse', script)
  const folder = createFolder()
  for (const event of next) folder.push(event)
  return Response.json(generateContent.encodeResponse(folder.response(), answerContext))
}

const PIECE_BYTES = 7

/** Sends a few bytes at a time, so that no chunk of the connection is a chunk of the answer. */
function streamed(events: ChatEvent[], answerContext: AnswerContext, isSse: boolean, script: Script): Response {
  const framing = isSse ? generateContent.framing : jsonArrayFraming
  const encoder = generateContent.createStreamEncoder(answerContext)
  const frames = events.flatMap((event) => (event.type === 'end' ? encoder.end() : encoder.push(event)))
  if (script.failure) frames.push(...encoder.fail(script.failure, 'req_1'))
  const pause = script.hasKeepAlives ? framing.keepAlive : ''
  const text =
    framing.open + frames.map((frame, index) => pause + framing.format(frame, index)).join('') + pause + framing.close
  const bytes = new TextEncoder().encode(text)
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close()
      else controller.enqueue(bytes.slice(at, at + PIECE_BYTES))
      at += PIECE_BYTES
    },
  })
  return new Response(body, { headers: { 'content-type': framing.contentType } })
}
