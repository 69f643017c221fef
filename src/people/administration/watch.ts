/** The administrators' operations to watch over the service: health of providers and targets, tiers, and the audit log. */
import { type Static, Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import type { AuditRow } from '@/console/administration/audit-search'
import { PAGE } from '@/console/http/pages'
import { isoMoments, listOf, mapPage, NullableText } from '@/console/http/wire'
import { oneOf, orNull } from '@/lib/schemas'
import { administrationOver } from '@/people/operation'
import type { AdminDeps } from './context'

const Count = Type.Integer({ minimum: 0 })
const Milliseconds = orNull(Type.Number())

const HealthBody = Type.Object({
  at: Type.String(),
  providers: Type.Array(
    Type.Object({
      provider: Type.String(),
      format: Type.String(),
      host: Type.String(),
      inFlight: Count,
      queued: Count,
      limit: orNull(Count),
      attempts: Type.Array(Type.Object({ outcome: Type.String(), count: Count, averageMs: Type.Number() })),
      retries: Count,
      broken: Count,
      shed: Count,
      keys: Type.Array(
        Type.Object({
          key: Type.String({ description: 'A digest; the key itself is shown nowhere' }),
          state: oneOf(['usable', 'cooling', 'out']),
          forMs: Type.Number(),
        }),
      ),
      targets: Type.Array(
        Type.Object({
          target: Type.String(),
          model: Type.String(),
          circuit: oneOf(['closed', 'open', 'half-open']),
          isAdopted: Type.Boolean({ description: 'Opened by another gateway, which also tries it again' }),
          recent: Type.Object({ all: Count, failed: Count, slow: Count }, { description: 'Of the last half minute' }),
          latencyMs: Type.Object({ stream: Milliseconds, whole: Milliseconds }),
        }),
      ),
    }),
  ),
  fallbacks: Type.Array(Type.Object({ from: Type.String(), to: Type.String(), reason: Type.String(), count: Count })),
})

const AuditValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

const AuditEntryBody = Type.Object({
  seq: Type.Integer(),
  at: Type.String(),
  actor: Type.String(),
  actorId: NullableText,
  action: Type.String(),
  subject: Type.String(),
  accountId: NullableText,
  details: Type.Array(Type.Object({ name: Type.String(), value: AuditValue })),
  ip: NullableText,
  hash: Type.String(),
})

const word = (description: string, maxLength = 254) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000]*$', description }))
const Moment = Type.Optional(
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?Z$',
    description: 'ISO 8601, UTC',
  }),
)

const AuditQuery = Type.Object({
  actor: word('The whole e-mail address'),
  action: word('The whole action or its first word: `approval`', 100),
  subject: word('The whole id', 300),
  accountId: word('The whole id', 100),
  from: Moment,
  to: Moment,
  ...PAGE,
})

const ChainBody = Type.Union([
  Type.Object({ kind: Type.Literal('intact'), entries: Count, headHash: Type.String() }),
  Type.Object({
    kind: Type.Literal('broken'),
    seq: Type.Integer({ description: 'The first entry that is wrong' }),
    fault: oneOf(['missing', 'altered', 'unlinked']),
  }),
])

const TiersBody = Type.Object({
  days: Count,
  tiers: Type.Array(Type.Object({ tier: Type.String(), share: Type.Number() })),
  observed: Type.Array(
    Type.Object({
      tier: Type.String(),
      model: Type.String(),
      answers: Count,
      cutByLength: Count,
      toolCalls: Count,
      filtered: Count,
      broken: Count,
      leftEarly: Count,
      outputTokens: Count,
      retries: Count,
      thumbsUp: Count,
      thumbsDown: Count,
    }),
  ),
})
/** Days that the tiers' report covers: feedback is accepted for this many days. */
const TIER_DAYS = 30

const operation = administrationOver<AdminDeps>()

const health = operation('health.show', 'GET /health', 'administrator', {
  summary: 'Get the health of providers and targets',
  description:
    'Circuits and keys are shared by all gateways; counts are of the process that answers. For administrators.',
  gives: HealthBody,
  run: async ({ deps }) => ({ at: new Date().toISOString(), ...deps.administration.health() }),
})

const tiers = operation('tier.report', 'GET /tiers', 'administrator', {
  summary: 'Get how models answered for tiers',
  description:
    'Sums of the last days over the observed share of each tier, by model, and all feedback. For administrators.',
  gives: TiersBody,
  run: async ({ deps }) => ({ days: TIER_DAYS, ...(await deps.administration.tierReport(TIER_DAYS)) }),
})

const audit = operation('audit.search', 'GET /audit', 'administrator', {
  summary: 'Search the audit log',
  description: 'Newest first. For administrators.',
  takes: AuditQuery,
  gives: listOf(AuditEntryBody),
  async run({ deps }, { from, to, ...search }) {
    const page = await deps.administration.searchAudit({
      ...search,
      ...(from !== undefined && { from: readMoment(from, 'from') }),
      ...(to !== undefined && { to: readMoment(to, 'to') }),
    })
    return mapPage(page, auditBody)
  },
})

const chain = operation('audit.verify', 'GET /audit/chain', 'administrator', {
  summary: 'Verify the audit log',
  description: 'Recomputes every hash and names the first entry that is wrong. For administrators.',
  gives: ChainBody,
  run: ({ deps }) => deps.administration.verifyAudit(),
})

export const WATCH_ADMINISTRATION = [health, tiers, audit, chain] as const

function auditBody(row: AuditRow): Static<typeof AuditEntryBody> {
  const { actorEmail, details, at, seq, actorId, action, subject, accountId, ip, hash } = row
  return {
    ...isoMoments({ at, seq, actorId, action, subject, accountId, ip, hash }),
    actor: actorEmail,
    details: Object.entries(details).map(([name, value]) => ({ name, value })),
  }
}

function readMoment(text: string, param: string): Date {
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime())) throw invalidRequest(`${param}: there is no such moment.`, param)
  return moment
}
