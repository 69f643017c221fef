/** The operation on an account's audit log. */
import { Type } from '@sinclair/typebox'
import type { Administration } from '@/console/administration/administration'
import type { AuditRow } from '@/console/administration/audit-search'
import type { Member } from '@/console/auth/viewer'
import type { GuardDeps } from '@/console/http/guard'
import { DayText, PAGE, readDay } from '@/console/http/pages'
import { listOf, mapPage, NullableText } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { MS_PER_DAY } from '@/lib/clock'
import { orNull } from '@/lib/schemas'
import { operationsOver } from '@/people/operation'

export type AuditDeps = GuardDeps & { administration: Pick<Administration, 'searchAudit' | 'ownPeople'> }

const AccountAuditEntry = titled('AccountAuditEntry', {
  seq: Type.Integer(),
  at: Type.String({ description: 'ISO 8601' }),
  actor: orNull(Type.Object({ userId: Type.String(), email: Type.String() }), {
    description:
      'The person who did it; null for the service and its operators, whose `details` and `ip` are hidden too',
  }),
  action: Type.String({ examples: ['key.create'] }),
  subject: Type.String({ description: 'The id of the changed object' }),
  details: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
    description: '`managementKey` is the key by which it was done, whose maker is the actor',
  }),
  ip: NullableText,
  requestId: NullableText,
})

const AuditQuery = Type.Object({
  action: Type.Optional(
    Type.String({
      pattern: '^[a-z_.]{1,100}$',
      maxLength: 100,
      description: 'The whole action or its first word: `key`',
    }),
  ),
  subject: Type.Optional(Type.String({ maxLength: 300, description: 'The whole id of the changed object' })),
  from: Type.Optional(DayText),
  to: Type.Optional(DayText),
  ...PAGE,
})

const operation = operationsOver<AuditDeps>()

const list = operation('audit.list', 'GET /audit', 'audit.read', 'audit:read', {
  summary: 'List changes in the account',
  description: 'The actor, address and request of each change.',
  takes: AuditQuery,
  gives: listOf(AccountAuditEntry, { description: 'Newest first' }),
  run: ({ deps, viewer }, query) => read(deps, viewer, query),
})

export const AUDIT_OPERATIONS = [list] as const

async function read(
  { administration }: AuditDeps,
  { accountId }: Member,
  { from, to, ...query }: typeof AuditQuery.static,
) {
  const page = await administration.searchAudit({
    ...{ ...query, accountId },
    ...(from !== undefined && { from: new Date(readDay(from, 'from')) }),
    ...(to !== undefined && { to: new Date(readDay(to, 'to') + MS_PER_DAY) }),
  })
  const own = await administration.ownPeople(
    accountId,
    page.items.flatMap(({ actorId }) => actorId ?? []),
  )
  return mapPage(page, (row) => told(row, own))
}

/** An audit entry in a response. If the actor is not in `own`, it contains no actor, details or IP address. */
function told(
  { seq, at, actorId, actorEmail, action, subject, details, ip, requestId }: AuditRow,
  own: ReadonlySet<string>,
) {
  const isOwn = actorId !== null && own.has(actorId)
  const common = { seq, at: at.toISOString(), action, subject, requestId }
  return isOwn
    ? { ...common, actor: { userId: actorId, email: actorEmail }, details, ip }
    : { ...common, actor: null, details: {}, ip: null }
}
