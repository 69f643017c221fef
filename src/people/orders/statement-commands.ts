/** Operator commands that preview a bank statement's file, and import it in the name of an administrator. */
import { and, eq, isNull } from 'drizzle-orm'
import { type Command, OPERAND, operand, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { usdOfCents } from '@/cli/pages'
import type { Services } from '@/cli/services'
import { readChoice, readEmail, readText } from '@/cli/values'
import type { Administrator } from '@/console/administration/administrator'
import type { MoneyDeps } from '@/console/administration/approvals/request-operation'
import { commitStatement } from '@/console/administration/statements/commit'
import { type PreviewOutcome, previewStatement } from '@/console/administration/statements/preview'
import { MAX_STATEMENT_CHARS } from '@/console/administration/statements/statement'
import { users } from '@/db/auth-schema'
import { findRow } from '@/db/find-row'
import { decodeText } from '@/lib/decode-text'
import { NANO_PER_USD, nano } from '@/lib/money'

const DATE_ORDERS = ['detect', 'day-first', 'month-first'] as const
const FILE = operand('FILE', 'CAMT.053 or CSV, as the bank exports it')
const OPTIONS = {
  administrator: required('E', 'the address of the administrator in whose name it is done'),
  'date-order': optional(DATE_ORDERS.join('|'), 'of dates with slashes in a CSV file; otherwise detect'),
  currency: optional('C', 'of a CSV file that does not say, such as USD'),
}

export const PREVIEW_COMMAND: Command = {
  words: 'statement preview',
  help: 'shows what each line of a bank statement would do; nothing is credited',
  operand: FILE,
  options: OPTIONS,
  async prepare(values) {
    const request = await readRequest(values)
    return async (services) => ({ output: shownPreview(await preview(services, request), new Map()) })
  },
}

export const IMPORT_COMMAND: Command = {
  words: 'statement import',
  help: 'credits the lines of a bank statement that fit their orders; above the limit a second administrator must agree',
  operand: FILE,
  options: { ...OPTIONS, reason: required('R', 'kept in the audit log') },
  async prepare(values) {
    const request = await readRequest(values)
    const reason = readText(values, 'reason')
    return async (services) => {
      const previewed = await preview(services, request)
      const { importId, digest, deps, administrator } = previewed
      const outcome = await commitStatement(deps, administrator, { importId, digest, reason })
      if (outcome.kind !== 'committed') return fail(`the import ${importId} was changed meanwhile; try again`)
      return { output: shownPreview(previewed, new Map(outcome.lines.map(({ line, result }) => [line, result]))) }
    }
  },
}

type Request = { text: string; email: string; dateOrder: (typeof DATE_ORDERS)[number]; currency: string | undefined }

async function readRequest(values: Values): Promise<Request> {
  const path = readText(values, OPERAND, 4_096)
  const { currency } = values
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency)) fail('--currency must have three capital letters')
  const dateOrder = readChoice(values, 'date-order', DATE_ORDERS) ?? 'detect'
  const email = readEmail(values, 'administrator').toLowerCase()
  const file = Bun.file(path)
  if (file.size > MAX_STATEMENT_CHARS) fail(`${path} is larger than 20 MB`)
  const decoded = decodeText(await file.bytes().catch(() => fail(`cannot read ${path}`)))
  if (decoded.kind === 'faulty') return fail(`${path}: ${decoded.fault}`)
  return { text: decoded.text, email, dateOrder, currency }
}

type Previewed = Extract<PreviewOutcome, { kind: 'previewed' }> & { deps: MoneyDeps; administrator: Administrator }

async function preview(services: Services, { text, email, ...options }: Request): Promise<Previewed> {
  const { config, database, topUps, by } = services
  const isThem = and(eq(users.email, email), eq(users.role, 'admin'), isNull(users.disabledAt))
  const user = (await findRow(database.db, users, isThem)) ?? fail(`no administrator has the address ${email}`)
  const administrator = { userId: user.id, email, ...(by.requestId !== undefined && { requestId: by.requestId }) }
  const deps = { ...topUps.ordersDeps, approvalLimit: nano(config.administration.approvalLimitUsd * NANO_PER_USD) }
  const outcome = await previewStatement(deps, administrator, text, options)
  return outcome.kind === 'faulty' ? fail(outcome.faults.join(' ')) : { ...outcome, deps, administrator }
}

function shownPreview({ lines }: Previewed, results: ReadonlyMap<number, string>) {
  const credited = lines.filter(({ verdict }) => verdict === 'credit')
  return {
    creditUsd: usdOfCents(credited.reduce((sum, { amountCents }) => sum + amountCents, 0)),
    lines: lines.map(({ line, bookedOn, amountCents, currency, verdict, order, reference, counterparty }) => ({
      ...{ line, bookedOn, amount: usdOfCents(amountCents), currency, verdict },
      ...(results.size > 0 && { result: results.get(line) ?? null }),
      ...{ order: order?.reference ?? null, text: reference, counterparty },
    })),
  }
}
