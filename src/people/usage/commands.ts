/** Operator commands for sales: sums, margins after providers' bills, and token counts to compare with those bills. */

import { findSold } from '@/catalog/aliases'
import { type Command, optional, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readChoice, readOptionalCount, readText } from '@/cli/values'
import { MAX_PAGE_SIZE } from '@/db/paging'
import { archivedBeforeMs } from '@/db/usage-archive'
import { COUNT_GAPS } from '@/ledger/usage-record'
import { formatUsd } from '@/lib/money'
import { searchCountGaps } from '@/usage/count-gaps'
import { MAX_MARGIN_DAYS, readMargins } from '@/usage/margins'
import { SUMMED_BY, sumUsage } from '@/usage/sums'

const DEFAULT_DAYS = 30
const MS_PER_DAY = 86_400_000

export const USAGE_COMMANDS: readonly Command[] = [
  {
    words: 'usage',
    help: 'shows requests, tokens and charges in USD, by model unless `--by` says otherwise',
    options: {
      by: optional(SUMMED_BY.join('|'), 'what is summed; model where left out'),
      days: optional('n', `days back from today, in UTC; ${DEFAULT_DAYS} where left out`),
      account: optional('ID', 'only of this account'),
      key: optional('ID', 'only of this key'),
      model: optional('NAME', 'only of this model: its id or an alias'),
    },
    prepare(values) {
      const by = readChoice(values, 'by', SUMMED_BY) ?? 'model'
      const search = {
        by,
        days: readOptionalCount(values, 'days', MAX_MARGIN_DAYS) ?? DEFAULT_DAYS,
        ...(values.account !== undefined && { accountId: readText(values, 'account') }),
        ...(values.key !== undefined && { keyId: readText(values, 'key') }),
      }
      const name = values.model === undefined ? undefined : readText(values, 'model')
      return async (services) => {
        const model = name === undefined ? {} : { model: findSold(services.catalog, name)?.id ?? name }
        const { from, total, groups } = await sumUsage(services.database, { ...search, ...model }, Date.now())
        return { output: { from, total, usage: groups.map(({ place, ...sums }) => ({ [by]: place, ...sums })) } }
      }
    },
  },
  {
    words: 'usage margins',
    help: 'shows charges, providers’ costs and margins, by model and day, in USD',
    options: { days: optional('n', `days back from today, in UTC; ${DEFAULT_DAYS} where left out`) },
    prepare(values) {
      const days = readOptionalCount(values, 'days', MAX_MARGIN_DAYS) ?? DEFAULT_DAYS
      return async ({ database }) => ({ output: { ...(await readMargins(database, days, Date.now())) } })
    },
  },
  {
    words: 'usage gaps',
    help: 'lists records whose provider counted more than twice or less than half of our count, or more than was charged',
    options: {
      gap: optional('NAME', `only ${COUNT_GAPS.join(', ')}`),
      provider: optional('NAME', 'only of this provider'),
      account: optional('ID', 'only of this account'),
      days: optional('n', `days back; ${DEFAULT_DAYS} where left out`),
      cursor: optional('C', '`nextCursor` of the page before'),
    },
    prepare(values) {
      const days = readOptionalCount(values, 'days', MAX_MARGIN_DAYS) ?? DEFAULT_DAYS
      const search = {
        ...readGap(values),
        ...(values.provider !== undefined && { provider: readText(values, 'provider') }),
        ...(values.account !== undefined && { accountId: readText(values, 'account') }),
        ...(values.cursor !== undefined && { cursor: readText(values, 'cursor') }),
        limit: MAX_PAGE_SIZE,
      }
      return async ({ database }) => {
        const from = new Date(Date.now() - days * MS_PER_DAY)
        const { items, nextCursor } = await searchCountGaps(database, { ...search, from })
        const records = items.map(({ atMs, cost, providerCost, ...record }) => ({
          at: new Date(atMs).toISOString(),
          ...record,
          costUsd: formatUsd(cost),
          providerCostUsd: providerCost === null ? null : formatUsd(providerCost),
        }))
        const beforeMs = await archivedBeforeMs(database.sql)
        const isCut = beforeMs !== null && beforeMs > from.getTime()
        return { output: { ...(isCut && { archivedBefore: new Date(beforeMs) }), records, nextCursor } }
      }
    },
  },
]

function readGap({ gap }: Values) {
  const known = COUNT_GAPS.find((name) => name === gap)
  if (gap !== undefined && !known) fail(`--gap must be one of ${COUNT_GAPS.join(', ')}`)
  return known ? { gap: known } : {}
}
