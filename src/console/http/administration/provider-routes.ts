/** The route by which administrators try a provider: what works at each of its targets, how fast, and at what cost. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { ProviderNameSchema } from '@/catalog/schema'
import { GatewayError } from '@/chat/error'
import { guard } from '@/console/http/guard'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { ADMIN_PREFIX, type AdminDeps, administratorOf, NullableText } from './context'

const Verdict = oneOf(['works', 'fails', 'untried'], {
  title: 'TrialVerdict',
})

const TrialsBody = Type.Object({
  at: Type.String(),
  targets: Type.Array(
    Type.Object({
      model: Type.String(),
      target: Type.String(),
      text: Verdict,
      stream: Verdict,
      tools: Verdict,
      images: Verdict,
      schema: Verdict,
      usage: Verdict,
      firstTokenMs: orNull(Type.Number()),
      costUsd: NullableText,
      faults: Type.Array(Type.Object({ of: Type.String(), why: Type.String() })),
    }),
  ),
})

/** Mounts `/dashboard/api/admin/providers/:provider/test`. */
export function adminProviderRoutes(deps: AdminDeps) {
  return new Elysia({ name: 'admin-provider-routes', prefix: `${ADMIN_PREFIX}/providers`, tags: ['Administration'] })
    .use(guard(deps))
    .post(
      '/:provider/test',
      async ({ params: { provider }, viewer, request }) => {
        const trials = await deps.administration.tryProvider(administratorOf(deps, viewer, request), provider)
        if (!trials) throw new GatewayError('not_found', 'There is no such provider.')
        return {
          at: new Date().toISOString(),
          targets: trials.map(({ cost, ...trial }) => ({
            ...trial,
            costUsd: cost === null ? null : formatUsd(cost),
          })),
        }
      },
      {
        administrator: true,
        params: Type.Object({ provider: ProviderNameSchema }),
        response: TrialsBody,
        detail: {
          summary: 'Try a provider',
          description: 'Sends small requests, which the provider charges for. For administrators.',
        },
      },
    )
}
