/** The endpoints that operators and orchestrators ask: is the process alive, and may it get traffic. */
import { Elysia } from 'elysia'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi'

/** Mounts `GET /healthz`, `GET /readyz` and `GET /metrics`. */
export function opsRoutes(deps: HttpDeps) {
  return (
    new Elysia({ name: 'ops-routes' })
      .get('/healthz', () => Response.json({ status: 'ok' }), {
        detail: operation({
          tag: 'Operations',
          summary: 'Is the process alive?',
          description: 'Answers 200 as long as the process can answer at all. Asks no store.',
          errors: [],
          isPublic: true,
        }),
      })
      // Some clients warm their connection with this request; any answer will do.
      .head('/api/hello', () => new Response(null), { detail: { hide: true } })
      .get('/readyz', () => readiness(deps), {
        detail: operation({
          tag: 'Operations',
          summary: 'May the process get traffic?',
          description: '200 where every store answers and no shutdown is under way; else 503 with the reasons by name.',
          errors: [503],
          isPublic: true,
        }),
      })
      .get('/metrics', () => exposition(deps), {
        detail: operation({
          tag: 'Operations',
          summary: 'Metrics of this process',
          description:
            'Prometheus text. Holds no secret, but sums of traffic and cost: keep it inside your own network. ' +
            'Where several processes share the port, one of them answers, and says which in the label `process`.',
          errors: [],
          isPublic: true,
        }),
      })
  )
}

async function exposition({ metrics }: HttpDeps): Promise<Response> {
  const headers = { 'content-type': metrics.contentType, 'cache-control': 'no-store' }
  return new Response(await metrics.exposition(), { headers })
}

async function readiness(deps: HttpDeps): Promise<Response> {
  if (deps.isDraining()) return Response.json({ status: 'draining' }, { status: 503 })
  const results = await Promise.all(
    deps.readiness.map(async ({ name, check, isRequired }) => ({ name, isRequired, fault: await check() })),
  )
  const faults = results.filter((result) => result.fault !== undefined)
  const reasons = Object.fromEntries(faults.map(({ name, fault }) => [name, fault]))
  if (faults.some(({ isRequired }) => isRequired)) return Response.json({ status: 'unready', reasons }, { status: 503 })
  return Response.json(faults.length > 0 ? { status: 'degraded', reasons } : { status: 'ready' })
}
