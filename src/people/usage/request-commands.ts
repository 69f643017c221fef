/** Operator commands for requests: list an account's, show one with its cost and billing rule, or show why it failed. */
import { priceLines } from '@/catalog/price-lines'
import { type Command, OPERAND, operand, optional, required } from '@/cli/command'
import { fail } from '@/cli/failure'
import { PAGE_OPTIONS, readPage } from '@/cli/pages'
import type { Services } from '@/cli/services'
import { readDay, readText, readUsd } from '@/cli/values'
import { findFailure, findFailureOwner } from '@/console/usage-views/failures/failure-search'
import { tellRecord } from '@/console/usage-views/listed-record'
import { findRecordOwner, type RecordDetail, readRecordDetail } from '@/console/usage-views/record-detail'
import { listRequests } from '@/console/usage-views/request-list'
import { archivedBeforeMs } from '@/db/usage-archive'
import { MS_PER_DAY } from '@/lib/clock'
import { formatUsd } from '@/lib/money'

export const REQUEST_COMMANDS: readonly Command[] = [
  {
    words: 'request list',
    help: 'lists the charged requests of an account, newest first; `sameAs` is a possible duplicate within ten minutes',
    options: {
      account: required('ID', 'the account'),
      from: optional('DAY', 'from this day on (UTC), e.g. 2026-03-01; otherwise of the last 30 days'),
      to: optional('DAY', 'to this day (UTC), included; otherwise to now'),
      cost: optional('USD', 'only those that cost exactly this'),
      tag: optional('NAME=VALUE', 'only those with this tag'),
      ...PAGE_OPTIONS,
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const search = {
        ...readPage(values),
        ...(values.from !== undefined && { fromMs: readDay(values, 'from') }),
        ...(values.to !== undefined && { toMs: readDay(values, 'to') + MS_PER_DAY }),
        ...(values.cost !== undefined && { cost: readUsd(values, 'cost') }),
        ...(values.tag !== undefined && { tag: readText(values, 'tag') }),
      }
      return async ({ database, accounts }) => {
        if (!(await accounts.find(accountId))) fail(`no account ${accountId}`)
        const { items: requests, ...rest } = await listRequests(database, { accountId, ...search }, Date.now())
        return { output: { requests, ...rest } }
      }
    },
  },
  {
    words: 'request show',
    help: 'shows one request: who, which model and provider, tokens, cost and billing rule, or why it failed',
    operand: operand('ID', 'the `x-request-id` of the answer, or the id of its usage record'),
    options: {},
    prepare(values) {
      const id = readText(values, OPERAND)
      return async (services) => {
        const output = (await readRecord(services, id)) ?? (await readFailure(services, id))
        if (output) return { output }
        const beforeMs = await archivedBeforeMs(services.database.sql)
        const archived =
          beforeMs === null ? '' : `; records from before ${new Date(beforeMs).toISOString().slice(0, 10)} are archived`
        return fail(
          `no request ${id}: its record comes seconds after the answer, and failed ones are kept for 30 days, at most 10,000 of an account and day${archived}`,
        )
      }
    },
  },
]

async function readRecord({ database, catalog }: Services, id: string) {
  const accountId = await findRecordOwner(database, id)
  if (accountId === undefined) return undefined
  const detail = await readRecordDetail(
    database,
    (model, usage, tier) => priceLines(catalog, model, usage, tier),
    { accountId },
    id,
  )
  return detail && { accountId, ...describe(detail) }
}

async function readFailure({ database }: Services, id: string) {
  const accountId = await findFailureOwner(database, id)
  const failure = accountId === undefined ? undefined : await findFailure(database, { accountId }, id, Date.now())
  if (!failure) return undefined
  const { atMs, ...facts } = failure
  return { accountId, at: new Date(atMs), ...facts }
}

function describe({ record, records, cost, rule, flags }: RecordDetail): Record<string, unknown> {
  const { settledAt, held, recordId: _, kind: __, ...told } = tellRecord(record)
  const facts = Object.entries(told).filter(([name]) => !name.endsWith('Tokens'))
  return {
    ...Object.fromEntries(facts),
    keyName: record.keyName,
    at: new Date(settledAt),
    startedAt: new Date(told.startedAt),
    costUsd: formatUsd(cost),
    heldUsd: held,
    rule,
    flags,
    usage: record.usage,
    tools: record.tools.map(({ name, uses }) => ({ name, uses })),
    records: records.map((part) => ({
      recordId: part.recordId,
      kind: part.kind,
      at: new Date(part.atMs),
      costUsd: formatUsd(part.cost),
    })),
  }
}
