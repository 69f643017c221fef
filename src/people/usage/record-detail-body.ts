/** The response body of one usage record in full, with explanations. */
import { type Static, Type } from '@sinclair/typebox'
import { BILLABLES, UNITS } from '@/chat/units'
import { type ListedRecord, SEEN_COLUMNS, tellRecord } from '@/console/usage-views/listed-record'
import { formatLineAmount, formatRounding, formatUnitPrice } from '@/console/usage-views/pico-text'
import { FLAG_WORDS, RULE_WORDS } from '@/console/usage-views/plain-words'
import type { RecordDetail } from '@/console/usage-views/record-detail'
import { toolsCost } from '@/ledger/usage-record'
import { formatUsd, nano } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { toIso, toUsageItem, UsageItem } from './bodies'

const Explained = Type.Object({ name: Type.String(), words: Type.String() })

const PriceLine = Type.Object({
  class: Type.String({
    description: `\`input\`, \`cacheRead\`, \`cacheWrite5m\`, \`cacheWrite1h\`, \`output\`, or one of ${BILLABLES.join(', ')}`,
  }),
  unit: oneOf(UNITS),
  variant: Type.Optional(Type.String({ description: 'Such as a size and quality' })),
  count: Type.Integer(),
  unitPrice: Type.String({ description: 'USD per 1,000,000 tokens or characters, or per other unit' }),
  amount: Type.String({ description: 'USD, twelve decimals at most' }),
})

const ToolLine = Type.Object({
  tool: Type.String({ description: 'Such as `web_search`' }),
  uses: Type.Integer(),
  amount: Type.String({ description: 'USD' }),
})

const CACHED_APART = ['uncachedTokens', 'cacheWrite5mTokens', 'cacheWrite1hTokens'] as const

export const RecordDetailBody = Type.Composite([
  Type.Omit(UsageItem, ['recordId', 'kind', 'rule', 'flags', 'cost', ...CACHED_APART]),
  Type.Object({
    memberName: orNull(Type.String(), { description: 'Whose key it was' }),
    cost: Type.String({ description: 'USD, all records of the request together' }),
    facts: Type.Array(
      Type.Object({
        label: Type.String(),
        kind: Type.String(),
        value: orNull(Type.String()),
      }),
    ),
    records: Type.Array(
      Type.Object({ recordId: Type.String(), kind: Type.String(), at: Type.String(), cost: Type.String() }),
      { description: 'Oldest first; more than one after a correction' },
    ),
    rule: Explained,
    flags: Type.Array(Explained),
    lines: orNull(Type.Array(PriceLine), { description: "Null if today's prices do not give this cost" }),
    toolLines: Type.Array(ToolLine, { description: 'Tools that ran at the provider; part of the cost' }),
    rounding: orNull(Type.String(), { description: 'What rounding up to 0.000000001 USD added' }),
    priceNote: orNull(Type.String(), { description: 'The reason why there are no lines' }),
  }),
])

const NO_LINES =
  "Today's prices do not add up to this cost: the price has changed since, the model is no longer offered, or the rule below decided the amount. What was charged stands."

/** The full record as a response body. */
export function toRecordDetailBody(detail: RecordDetail): Static<typeof RecordDetailBody> {
  const { record, lines, cost, rule, flags } = detail
  const { recordId, kind: _, rule: __, flags: ___, cost: ____, ...item } = toUsageItem(record)
  return {
    ...item,
    memberName: detail.memberName,
    cost: formatUsd(cost),
    facts: factsOf(record),
    records: detail.records.map(({ atMs, cost: own, ...part }) => ({ ...part, at: toIso(atMs), cost: formatUsd(own) })),
    rule: { name: rule, words: RULE_WORDS[rule] },
    flags: flags.map((flag) => ({ name: flag, words: FLAG_WORDS[flag] })),
    lines:
      lines?.map(({ price, ...line }) => ({
        ...line,
        unitPrice: formatUnitPrice(price, line.unit),
        amount: formatLineAmount(line.count, price),
      })) ?? null,
    toolLines: record.tools.map(({ name, uses, cost: part }) => ({ tool: name, uses, amount: formatUsd(part) })),
    rounding: lines ? formatRounding(lines, nano(cost - toolsCost(record.tools))) : null,
    priceNote: lines ? null : NO_LINES,
  }
}

function factsOf(record: ListedRecord) {
  const told = tellRecord(record)
  return SEEN_COLUMNS.flatMap(({ property, seen: { label }, kind }) => {
    const value = told[property]
    if (!label || (value === null && kind !== 'duration')) return []
    return [{ label, kind, value: Array.isArray(value) ? value.join(', ') : value === null ? null : String(value) }]
  })
}
