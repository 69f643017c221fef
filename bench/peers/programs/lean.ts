/**
 * The floor: our own ledger, keys and records in a straight line, `bun lean.ts PORT UPSTREAM_PORT REDIS_URL DATABASE_URL`. What any gateway that is paid
 * for in advance has to do per request, and nothing else: no routing, no translation, no fallback, no flusher. Not for use: a
 * client that leaves is charged nothing.
 */

import { LIMITS } from '@bench/peers/gateway'
import { Elysia } from 'elysia'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { createIdentify } from '@/accounts/identify'
import { ZERO_USAGE } from '@/chat/usage'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import type { RequestFacts } from '@/ledger/usage-record'
import { createLogWriter } from '@/lib/log-writer'
import { createLogger } from '@/lib/logger'
import { nano } from '@/lib/money'

const [port, upstreamPort, redisUrl = '', databaseUrl = ''] = process.argv.slice(2)
const UPSTREAM = `http://127.0.0.1:${upstreamPort}/v1/chat/completions`
const HOLD = { amount: nano(10_000_000), inputCost: nano(300_000), tokens: 4_500, ttlMs: 60_000 }
const COST = nano(56_000)
const TOTAL_MS = 600_000
const CONNECT_MS = 10_000
const DECODER = new TextDecoder('utf-8', { fatal: true })

const logger = createLogger({ level: 'info', write: createLogWriter(1).write, service: 'lean' })
const redis = connectRedis(redisUrl, { logger, commandTimeoutMs: CONNECT_MS, name: 'lean' })
const database = connectDatabase(databaseUrl)
const { ledger } = assembleLedger({ redis, database, defaultLimits: LIMITS, logger })
const identify = createIdentify(database, ledger, 'svc')

async function answer(request: Request): Promise<Response> {
  const arrivedMs = performance.now()
  const holdId = `req_${crypto.randomUUID().replaceAll('-', '')}`
  const keyText = (request.headers.get('authorization') ?? '').slice('Bearer '.length)
  const payer = await identify(keyText)
  if (!payer) return new Response('{}', { status: 401 })
  const body = JSON.parse(DECODER.decode(await request.bytes()))
  const { model } = body
  const held = await ledger.reserve({ ...payer, holdId, ...HOLD })
  if (held.kind !== 'reserved') return Response.json(held, { status: 402 })
  body.model = model.slice(model.indexOf('/chat-completions-') + '/chat-completions-'.length)
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), TOTAL_MS)
  request.signal.addEventListener('abort', () => controller.abort())
  const upstream = await fetch(UPSTREAM, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-bench' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: controller.signal,
  })
  const settle = async () => {
    clearTimeout(timer)
    const durationMs = Math.round(performance.now() - arrivedMs)
    const facts = factsOf(holdId, model, body.stream === true, durationMs)
    await ledger.settle({ ...payer, holdId, cost: COST, tokens: 40, facts }, { force: true })
    logger.info('chat', { requestId: holdId, ...payer, model, status: 200, durationMs, cost: COST })
  }
  const headers = headersOf(holdId, model, arrivedMs)
  if (!body.stream || !upstream.body) {
    const json = JSON.parse(DECODER.decode(await upstream.bytes()))
    json.model = model
    await settle()
    return new Response(JSON.stringify(json), { headers: { ...headers, 'content-type': 'application/json' } })
  }
  const pieces = upstream.body.pipeThrough(new TransformStream({ flush: settle }))
  return new Response(pieces, { headers: { ...headers, 'content-type': 'text/event-stream' } })
}

function factsOf(requestId: string, model: string, stream: boolean, durationMs: number): RequestFacts {
  return {
    ...{ requestId, model, requestedModel: model, provider: 'chat-completions', upstreamModel: 'json' },
    ...{ clientFormat: 'chat-completions', providerFormat: 'chat-completions', rule: 'usage', flags: [], stream },
    usage: { ...ZERO_USAGE, uncached: 24, output: 16 },
    ...{ status: 200, attempts: 1, routeReason: 'the only one', firstTokenMs: null, durationMs },
    startedAtMs: Date.now() - durationMs,
  }
}

function headersOf(requestId: string, model: string, arrivedMs: number): Record<string, string> {
  return {
    ...{ 'x-request-id': requestId, 'x-svc-model': model, 'x-svc-provider': 'chat-completions', 'x-svc-attempts': '1' },
    ...{ 'x-svc-route-reason': 'the only one', 'x-svc-overhead-ms': (performance.now() - arrivedMs).toFixed(3) },
    ...{ 'x-ratelimit-limit-requests': '1000', 'x-ratelimit-remaining-requests': '999' },
  }
}

await waitForRedis(redis, CONNECT_MS)
await ledger.verify()
const app = new Elysia({ handler: { standardHostname: false } }).post('/*', ({ request }) => answer(request), {
  parse: 'none',
})
Bun.serve({ hostname: '127.0.0.1', port: Number(port), idleTimeout: 0, fetch: (request) => app.fetch(request) })
