/**
 * A scripted provider on a bare socket, so that it can do to the gateway whatever a network can: break off inside a chunk,
 * reset, stay silent, send what is no HTTP. It keeps its own bill.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { createAnswer } from './answer'
import { type Bill, createBill } from './bill'
import type { Call, Script } from './exchange'
import { createRequestReader, type RawRequest } from './request-reader'
import { defaultScript } from './scripts'

export interface Upstream {
  readonly url: string
  readonly port: number
  readonly bill: Bill
  readonly calls: readonly Call[]
  /** What the calls for one request get, instead of the usual answer. */
  script(marker: string, script: Script): void
  /** Answers that have begun and not ended. */
  openAnswers(): number
  stop(): Promise<void>
}

const MARKER = /\bm[0-9a-z]{9}\b/

/** Starts the provider on a free loopback port. */
export async function startUpstream(): Promise<Upstream> {
  const bill = createBill()
  const calls: Call[] = []
  const scripts = new Map<string, Script>()
  const attempts = new Map<string, number>()
  const sockets = new Set<Socket>()
  let open = 0

  async function serve(socket: Socket, request: RawRequest): Promise<void> {
    // Who has closed a connection reads no further request from it.
    if (socket.writableEnded) return
    const marker = MARKER.exec(request.bodyText)?.[0] ?? 'none'
    const attempt = attempts.get(marker) ?? 0
    attempts.set(marker, attempt + 1)
    const body = parseBody(request.bodyText)
    const call = { index: calls.length, ...request, body, marker, attempt, atMs: Date.now() }
    calls.push(call)
    const answer = createAnswer(socket)
    open++
    try {
      const script = scripts.get(marker) ?? defaultScript
      await script({ call, answer, bill: (kind, tokens) => bill.append(call.index, marker, kind, tokens) })
    } finally {
      open--
      if (answer.mustClose()) socket.end()
    }
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    const reader = createRequestReader()
    let turn = Promise.resolve()
    socket.on('data', (bytes: Buffer) => {
      for (const request of reader.push(bytes)) turn = turn.then(() => serve(socket, request))
    })
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    bill,
    calls,
    script: (marker, script) => scripts.set(marker, script),
    openAnswers: () => open,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Listens on a free loopback port and returns it. */
export async function listen(server: Server): Promise<number> {
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

function parseBody(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
