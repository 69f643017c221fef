/**
 * A proxy that does per request what any gateway does, and nothing that is this gateway's own: `bun featured-proxy.ts PORT
 * UPSTREAM_PORT`. Elysia, bodies read and parsed, answers parsed and serialised again, an abort signal, two timers, headers, a
 * reader over streams, and as many awaits as layers would bring.
 */
import { Elysia } from 'elysia'

const [port, upstreamPort] = process.argv.slice(2)
const upstream = `http://127.0.0.1:${upstreamPort}`
const LAYERS = 30
const TOTAL_MS = 600_000
const FIRST_BYTE_MS = 60_000

type Limits = { signal: AbortSignal; answered(): void; clear(): void }

function createLimits(client: AbortSignal): Limits {
  const controller = new AbortController()
  const abort = () => controller.abort()
  client.addEventListener('abort', abort)
  const total = setTimeout(abort, TOTAL_MS)
  const firstByte = setTimeout(abort, FIRST_BYTE_MS)
  return {
    signal: controller.signal,
    answered: () => clearTimeout(firstByte),
    clear() {
      client.removeEventListener('abort', abort)
      clearTimeout(total)
      clearTimeout(firstByte)
    },
  }
}

async function throughLayers<T>(depth: number, work: () => Promise<T>): Promise<T> {
  return depth === 0 ? await work() : await throughLayers(depth - 1, work)
}

async function proxy(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await request.bytes()))
  const limits = createLimits(request.signal)
  const answer = await fetch(upstream + pathname + search, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: request.headers.get('authorization') ?? '' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: limits.signal,
  })
  limits.answered()
  const headers = answerHeaders()
  if (!(answer.headers.get('content-type') ?? '').includes('event-stream')) {
    const json = JSON.parse(new TextDecoder().decode(await answer.bytes()))
    limits.clear()
    return new Response(JSON.stringify(json), { headers: { ...headers, 'content-type': 'application/json' } })
  }
  return new Response(relay(answer, limits), { headers: { ...headers, 'content-type': 'text/event-stream' } })
}

function relay(answer: Response, limits: Limits): ReadableStream<Uint8Array> {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      limits.clear()
      controller.close()
    },
    async cancel() {
      limits.clear()
      await reader.cancel()
    },
  })
}

function answerHeaders(): Record<string, string> {
  return {
    'x-request-id': crypto.randomUUID(),
    'x-model': 'bench',
    'x-provider': 'mock',
    'x-attempts': '1',
    'x-route-reason': 'the only one',
    'x-overhead-ms': performance.now().toFixed(3),
    'x-ratelimit-limit-requests': '1000',
    'x-ratelimit-remaining-requests': '999',
  }
}

const app = new Elysia({ handler: { standardHostname: false } }).post(
  '/*',
  ({ request }) => throughLayers(LAYERS, () => proxy(request)),
  { parse: 'none' },
)
Bun.serve({ hostname: '127.0.0.1', port: Number(port), idleTimeout: 0, fetch: (request) => app.fetch(request) })
