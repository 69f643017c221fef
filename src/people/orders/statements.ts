/** Bank statements: a preview, and its commit. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError } from '@/chat/error'
import type { PreviewOutcome } from '@/console/administration/statements/preview'
import { MAX_STATEMENT_CHARS } from '@/console/administration/statements/statement'
import { KEPT_VERDICTS, type KnownOrder } from '@/console/administration/statements/verdict'
import { exactly } from '@/console/http/wire'
import { formatCents } from '@/console/orders/cents'
import { LINE_RESULTS, LINE_VERDICTS } from '@/db/administration-schema'
import { oneOf, orNull } from '@/lib/schemas'
import { administratorOf, Reason, Usd } from '@/people/administration/context'
import type { AdminCall } from './administration'

const LineBody = Type.Object({
  line: Type.Integer(),
  bookedOn: Type.String({ description: 'yyyy-mm-dd' }),
  amount: Type.String({ description: 'Decimal, of `currency`; negative for outgoing money' }),
  currency: Type.String(),
  text: Type.String(),
  counterparty: Type.String(),
  verdict: oneOf(LINE_VERDICTS),
  isKept: Type.Boolean({ description: 'A commit keeps it as an unmatched payment' }),
  order: orNull(
    Type.Object({
      orderId: Type.String(),
      accountId: Type.String(),
      accountName: Type.String(),
      reference: Type.String(),
      amount: Usd,
    }),
  ),
})

export const PreviewBody = Type.Object({
  importId: Type.String(),
  digest: Type.String({ description: 'Of everything that was previewed; a commit names it' }),
  lines: Type.Array(LineBody),
  creditCount: Type.Integer(),
  creditTotal: Usd,
})

export const CommittedBody = Type.Object({
  lines: Type.Array(Type.Object({ line: Type.Integer(), result: oneOf(LINE_RESULTS) })),
})

/** Maximum bytes of a preview request: the statement in UTF-8 with every character escaped in JSON, and the other fields. */
export const MAX_PREVIEW_BYTES = 2 * MAX_STATEMENT_CHARS + 1024

export const StatementBody = exactly({
  text: Type.String({
    minLength: 1,
    maxLength: MAX_STATEMENT_CHARS,
    description: 'The file as text: CSV or CAMT.053',
  }),
  dateOrder: oneOf(['detect', 'day-first', 'month-first']),
  currency: Type.Optional(
    Type.String({ pattern: '^[A-Z]{3}$', description: 'For statements without a currency. ISO 4217.' }),
  ),
})

export const CommitBody = exactly({ digest: Type.String({ pattern: '^[0-9a-f]{64}$' }), reason: Reason })

/** Returns the effect of each line of a statement. */
export async function previewStatement({ deps, by }: AdminCall, body: Static<typeof StatementBody>) {
  const { text, dateOrder, currency } = body
  return previewBody(await deps.administration.previewStatement(administratorOf(by), text, { dateOrder, currency }))
}

/** Commits exactly the previewed lines. */
export async function commitStatement(
  { deps, by, params: { importId } }: AdminCall & { params: { importId: string } },
  body: Static<typeof CommitBody>,
) {
  const outcome = await deps.administration.commitStatement(administratorOf(by), { importId, ...body })
  if (outcome.kind === 'not_found') throw new GatewayError('not_found', 'There is no such preview of yours.')
  if (outcome.kind === 'other_preview') {
    throw new GatewayError('conflict', 'This is not what was previewed. Upload the statement again.', {
      code: 'other_preview',
    })
  }
  return { lines: outcome.lines }
}

function previewBody(outcome: PreviewOutcome): Static<typeof PreviewBody> {
  if (outcome.kind === 'faulty') {
    throw new GatewayError('invalid_request', outcome.faults.join(' '), { param: 'text', code: 'faulty_statement' })
  }
  const { importId, digest, lines } = outcome
  const credited = lines.filter((line) => line.verdict === 'credit')
  return {
    importId,
    digest,
    creditCount: credited.length,
    creditTotal: formatCents(credited.reduce((sum, line) => sum + line.amountCents, 0)),
    lines: lines.map(({ amountCents, reference, order, lineKey: _, exclusion: __, ...line }) => ({
      ...line,
      amount: lineAmount(amountCents),
      text: reference,
      isKept: KEPT_VERDICTS.has(line.verdict),
      order: order ? orderBody(order) : null,
    })),
  }
}

function orderBody({ orderId, accountId, accountName, reference, amountCents }: KnownOrder) {
  return { orderId, accountId, accountName, reference, amount: formatCents(amountCents) }
}

/** Formats amounts that may exceed an account's range. */
function lineAmount(cents: number): string {
  const magnitude = Math.abs(cents)
  const text = `${Math.floor(magnitude / 100)}.${String(magnitude % 100).padStart(2, '0')}`
  return cents < 0 ? `-${text}` : text
}
