/** The endpoint of what a key holder may know of the account: balance, spending, and the latest requests. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { authenticate } from '@/http/auth'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi/operation'
import { NO_SNIFFING } from '@/http/pages'
import { requireActiveKey } from '@/http/require-active-key'

const UsageSummary = Type.Object({
  credits_remaining: Type.Number({ description: 'USD' }),
  credits_used: Type.Number({ description: 'USD' }),
  usage_this_month: Type.Number({ description: 'USD, calendar month in UTC' }),
  customer: Type.Object({ name: Type.String(), credits: Type.Number({ description: 'USD' }) }),
  recentUsage: Type.Array(
    Type.Object({
      model: Type.String(),
      inputTokens: Type.Integer(),
      outputTokens: Type.Integer(),
      credits: Type.Number({ description: 'USD' }),
      toolUses: Type.Optional(
        Type.Record(Type.String(), Type.Integer(), { description: 'Tools that ran at the provider, by name' }),
      ),
      createdAt: Type.String({ description: 'ISO 8601, UTC' }),
    }),
    { maxItems: 50, description: 'Newest first' },
  ),
  archivedBefore: Type.Optional(
    Type.String({ description: 'There where requests before this moment are archived and not listed; ISO 8601, UTC' }),
  ),
})

/** Mounts `GET /v1/usage`. */
export function usageRoutes(deps: HttpDeps) {
  return new Elysia({ name: 'usage-routes' }).get('/v1/usage', ({ request }) => usage(deps, request), {
    detail: operation({
      tag: 'Usage',
      summary: 'Balance and recent usage of the account',
      description: 'Correct to the last settled request. All amounts are USD.',
      responseSchema: UsageSummary,
      errors: [400, 401, 403, 503],
    }),
  })
}

async function usage(deps: HttpDeps, request: Request): Promise<Response> {
  const payer = await authenticate(deps, request)
  deps.unpaid.answer(payer)
  await requireActiveKey(deps, payer, sentFrom(deps, request))
  const summary = await deps.reports.usageSummary(payer.accountId)
  if (!summary) throw new GatewayError('invalid_credentials', 'Incorrect API key provided.')
  return Response.json(summary, { headers: { 'cache-control': 'no-store', ...NO_SNIFFING } })
}
