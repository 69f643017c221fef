/** The endpoint at which a key reads its own expiry, limits and tightest budget. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { RULE_OWNERS } from '@/chat/preferences'
import { authenticate } from '@/http/auth'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi/operation'
import { NO_SNIFFING } from '@/http/pages'
import { requireActiveKey } from '@/http/require-active-key'
import { type BoundBudget, budgetsOfKey } from '@/ledger/bound-budgets'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'

const Figure = orNull(Type.String(), {
  description: 'USD, exact decimal text; null for the account’s budget, whose figures a key may not see',
})

const Budget = Type.Object({
  scope: Type.String({ description: '`account`, `member` (the key’s) or `key`' }),
  window: Type.String({ description: '`day`, `week` (from Monday), `month` or `total`; UTC' }),
  limit_usd: Figure,
  spent_usd: Figure,
  held_usd: Figure,
  remaining_usd: Figure,
  resets_at: orNull(Type.String(), { description: 'ISO 8601, UTC; null: never' }),
})

const KeyBody = Type.Object({
  id: Type.String(),
  expires_at: orNull(Type.String(), { description: 'ISO 8601, UTC; null: never' }),
  allowed_models: orNull(Type.Array(Type.String()), { description: 'null: all' }),
  allowed_providers: orNull(Type.Array(Type.String()), { description: 'null: all' }),
  data_rules: Type.Array(
    Type.Object({
      kind: oneOf(['zero-retention', 'no-training', 'regions']),
      regions: Type.Optional(Type.Array(Type.String())),
      from: oneOf(RULE_OWNERS, { description: 'Whose rule it is' }),
    }),
    { description: 'What providers must be stated to do with content; a request can add rules' },
  ),
  budgets: Type.Array(Budget, {
    description: 'All budgets that bind the key, the one with the least left first',
  }),
})

export function keyRoutes(deps: HttpDeps) {
  return new Elysia({ name: 'key-routes' }).get('/v1/key', ({ request }) => describeKey(deps, request), {
    detail: operation({
      tag: 'Usage',
      summary: 'Get this request’s key and its budgets',
      description: 'The current state, including amounts held by open requests.',
      responseSchema: KeyBody,
      errors: [400, 401, 403, 503],
    }),
  })
}

async function describeKey(deps: HttpDeps, request: Request): Promise<Response> {
  const payer = await authenticate(deps, request)
  deps.unpaid.answer(payer)
  const key = await requireActiveKey(deps, payer, sentFrom(deps, request))
  const budgets = budgetsOfKey(key, await deps.ledger.readBudgets(payer.accountId, payer.keyId), deps.clock.now())
  const body = {
    id: payer.keyId,
    expires_at: timeOf(key.expiresAtMs),
    allowed_models: key.allowedModels && [...key.allowedModels],
    allowed_providers: key.allowedProviders && [...key.allowedProviders],
    data_rules: key.dataRules ?? [],
    budgets: budgets.map(tell),
  }
  return Response.json(body, { headers: { 'cache-control': 'no-store', ...NO_SNIFFING } })
}

function tell({ scope, window, resetsAtMs, ...figures }: BoundBudget) {
  const { limit, spent, held, remaining } = figures
  const isTold = scope !== 'account'
  return {
    scope,
    window,
    limit_usd: isTold ? formatUsd(limit) : null,
    spent_usd: isTold ? formatUsd(spent) : null,
    held_usd: isTold ? formatUsd(held) : null,
    remaining_usd: isTold ? formatUsd(remaining) : null,
    resets_at: timeOf(resetsAtMs ?? null),
  }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
