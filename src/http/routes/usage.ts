/** The endpoints for a key's view of the account: balance, spending, and latest requests. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { programKeyKind } from '@/accounts/key-text'
import { GatewayError } from '@/chat/error'
import { authenticate, bearerToken } from '@/http/auth'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { requireManager } from '@/http/management/manager'
import { operation } from '@/http/openapi/operation'
import { titled } from '@/http/openapi/titled'
import { NO_SNIFFING } from '@/http/pages'
import { requireActiveKey } from '@/http/require-active-key'
import { formatUsd, nano } from '@/lib/money'
import { orNull } from '@/lib/schemas'
import type { ReportQuery, UsageReport, UsageSums } from '@/usage/usage-report'
import { REPORT_PARAMETERS, readReportQuery } from './report-query'

const Figure = (description: string) =>
  orNull(Type.Number(), { description: `${description}; null where the key's member does not see the balance` })

const UsageSummary = Type.Object({
  credits_remaining: Figure('USD'),
  credits_used: Figure('USD'),
  usage_this_month: Figure('USD, calendar month in UTC'),
  customer: Type.Object({ name: Type.String(), credits: Figure('USD') }),
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
    Type.String({ description: 'Set if requests before this time are archived and not listed; ISO 8601, UTC' }),
  ),
})

const Sums = {
  requests: Type.Integer({ description: 'Corrections move the cost only' }),
  errors: Type.Integer({ description: 'Without clients that hung up (499)' }),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cost_usd: Type.String({ description: 'USD, exact decimal text' }),
}

/** The schema of a usage report in responses. */
export const ReportBody = titled('UsageReport', {
  from: Type.String({ description: 'yyyy-mm-dd, UTC' }),
  to: Type.String({ description: 'yyyy-mm-dd, UTC, included' }),
  total: Type.Object(Sums, { description: 'The sum in the account statement for these days' }),
  rows: Type.Array(
    Type.Object({
      ...Sums,
      group: Type.Record(Type.String(), orNull(Type.String()), {
        description: 'By dimension; null if missing',
      }),
    }),
    { description: 'Together they are the total' },
  ),
  names: Type.Record(Type.String(), Type.String(), { description: 'Names of keys and members, by id' }),
  archived_before: orNull(Type.String(), {
    description:
      'Not null where requests before this moment (ISO 8601) are archived: by day, key and model alone they are told apart',
  }),
})

/** Mounts `GET /v1/usage` and `GET /v1/usage/report`. */
export function usageRoutes(deps: HttpDeps) {
  return new Elysia({ name: 'usage-routes' })
    .get('/v1/usage', ({ request }) => usage(deps, request), {
      detail: operation({
        tag: 'Usage',
        summary: 'Balance and recent usage of the account',
        description:
          'Correct to the last settled request. All amounts are USD. A key tells what its member sees: that of a developer no figures of the account, and the requests of their own keys, a second behind, unless the account lets developers see all.',
        responseSchema: UsageSummary,
        errors: [400, 401, 403, 503],
      }),
    })
    .get('/v1/usage/report', ({ request }) => report(deps, request), {
      detail: operation({
        tag: 'Usage',
        summary: 'Get sums of usage by day and two more dimensions',
        description:
          'Correct to what is booked, about a second behind. A key that a developer has made reads what their own keys did, unless the account lets developers see all; a management key with `usage:read` everything.',
        parameters: REPORT_PARAMETERS,
        responseSchema: ReportBody,
        errors: [400, 401, 403, 503, 504],
      }),
    })
}

async function report(deps: HttpDeps, request: Request): Promise<Response> {
  const asker = await askerOfUsage(deps, request)
  const query = readReportQuery(request.url, deps.clock.now())
  return Response.json(reportBody(query, await deps.usageReport(asker, query)), {
    headers: { 'cache-control': 'no-store', ...NO_SNIFFING },
  })
}

/** The account or key whose usage the caller may read. A management key with the scope may read the account's usage. */
export async function askerOfUsage(
  deps: HttpDeps,
  request: Request,
  scope: 'usage:read' | 'billing:read' = 'usage:read',
): Promise<Parameters<HttpDeps['usageReport']>[0]> {
  if (programKeyKind(bearerToken(request.headers.get('authorization') ?? '') ?? '') === 'mgmt') {
    const { accountId } = await requireManager(deps, request, scope)
    return { accountId }
  }
  const payer = await authenticate(deps, request)
  deps.unpaid.answer(payer)
  await requireActiveKey(deps, payer, sentFrom(deps, request))
  return payer
}

/** The response of a report. */
export function reportBody({ from, to, by }: ReportQuery, { total, rows, names, archivedBeforeMs }: UsageReport) {
  return {
    from,
    to,
    total: told(total),
    rows: rows.map(({ places, ...sums }) => ({
      group: Object.fromEntries(by.map((dimension, index) => [dimension, places[index] ?? null])),
      ...told(sums),
    })),
    names,
    archived_before: archivedBeforeMs === null ? null : new Date(archivedBeforeMs).toISOString(),
  }
}

function told({ requests, errors, inputTokens, outputTokens, cost }: UsageSums) {
  const tokens = { input_tokens: inputTokens, output_tokens: outputTokens }
  return { requests, errors, ...tokens, cost_usd: formatUsd(nano(cost)) }
}

async function usage(deps: HttpDeps, request: Request): Promise<Response> {
  const payer = await authenticate(deps, request)
  deps.unpaid.answer(payer)
  await requireActiveKey(deps, payer, sentFrom(deps, request))
  const summary = await deps.reports.usageSummary(payer)
  if (!summary) throw new GatewayError('invalid_credentials', 'Incorrect API key provided.')
  return Response.json(summary, { headers: { 'cache-control': 'no-store', ...NO_SNIFFING } })
}
