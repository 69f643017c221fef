/** Endpoints for operators and orchestrators: liveness, readiness and metrics. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi/operation'
import { NO_SNIFFING } from '@/http/pages'

const Status = Type.Object(
  {
    status: Type.String({ description: 'ok; ready, degraded, unready or draining' }),
    reasons: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'The failing checks, by name' })),
  },
  { title: 'ServiceStatus' },
)

export function opsRoutes(deps: HttpDeps) {
  return (
    new Elysia({ name: 'ops-routes' })
      .get('/healthz', () => status('ok'), {
        detail: operation({
          tag: 'Operations',
          summary: 'Is the process alive?',
          description: 'Answers 200 as long as the process can answer at all. Asks no store.',
          responseSchema: Status,
          errors: [],
          isPublic: true,
        }),
      })
      // Some clients open their connection with this request; any response is fine.
      .head('/api/hello', () => new Response(null, { headers: NO_SNIFFING }), { detail: { hide: true } })
      .get('/readyz', () => readiness(deps), {
        detail: operation({
          tag: 'Operations',
          summary: 'Is the process ready?',
          description:
            '200 where paid requests are taken: Redis answers and takes their writes, and no shutdown is under way; else 503 with ' +
            'the reasons by name.',
          responseSchema: Status,
          errors: [503],
          isPublic: true,
        }),
      })
      .get('/metrics', ({ request }) => exposition(deps, request), {
        detail: operation({
          tag: 'Operations',
          summary: 'Metrics of this gateway',
          description:
            'Prometheus text. Holds no secret, but sums of traffic and cost: with METRICS_TOKEN set only for those who send it as ' +
            '`Authorization: Bearer …`, and without it not in production. ' +
            'Where several processes share the port, whichever answers does so for all of them.',
          responseSchema: Type.String(),
          responseType: 'text/plain',
          errors: [401, 404, 503],
          isPublic: true,
        }),
      })
  )
}

async function exposition(deps: HttpDeps, request: Request): Promise<Response> {
  checkAccess(deps.metricsAccess, request)
  const headers = { 'content-type': deps.metrics.contentType, 'cache-control': 'no-store', ...NO_SNIFFING }
  return new Response(await deps.exposition(), { headers })
}

async function readiness(deps: HttpDeps): Promise<Response> {
  if (deps.isLeaving()) return status('draining', 503)
  const results = await Promise.all(
    deps.readiness.map(async ({ name, check, isRequired }) => ({ name, isRequired, fault: await check() })),
  )
  const faults = results.filter((result) => result.fault !== undefined)
  const reasons = Object.fromEntries(faults.map(({ name, fault }) => [name, fault]))
  if (faults.some(({ isRequired }) => isRequired)) return status('unready', 503, reasons)
  return faults.length > 0 ? status('degraded', 200, reasons) : status('ready')
}

function status(word: string, code = 200, reasons?: object): Response {
  return Response.json({ status: word, ...(reasons && { reasons }) }, { status: code, headers: NO_SNIFFING })
}

/** Throws if metrics may not be read. The comparison takes constant time, so it does not reveal the token. */
function checkAccess(access: HttpDeps['metricsAccess'], { headers }: Request): void {
  if (access === 'open') return
  if (access === 'closed') throw new GatewayError('not_found', 'Metrics are switched off: METRICS_TOKEN is unset.')
  const given = (headers.get('authorization') ?? '').replace(/^bearer +/i, '')
  if (timingSafeEqual(digestOf(given), digestOf(access.token))) return
  throw new GatewayError('invalid_credentials', 'Metrics need the value of METRICS_TOKEN as a bearer token.')
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
