/** Parses the query parameters of a usage report. */
import { invalidRequest } from '@/chat/error'
import type { Parameter } from '@/http/openapi/operation'
import { queryOf } from '@/http/request-line'
import { MS_PER_DAY, startOfUtcDay, utcDayOf } from '@/lib/clock'
import { DIMENSIONS, type Dimension, type ReportQuery } from '@/usage/usage-report'

const MAX_DAYS = 366
const DEFAULT_DAYS = 30
/** Maximum dimensions of a report, not counting the day. */
const MAX_DIMENSIONS = 2
const DAY = /^\d{4}-\d{2}-\d{2}$/
const ONE_TAG = /^tag:[a-z0-9_.-]{1,32}$/

export const REPORT_PARAMETERS: readonly Parameter[] = [
  {
    name: 'from',
    in: 'query',
    schema: { type: 'string', format: 'date' },
    description: `The first day, UTC; without it so that there are ${DEFAULT_DAYS}. At most ${MAX_DAYS} days`,
  },
  {
    name: 'to',
    in: 'query',
    schema: { type: 'string', format: 'date' },
    description: 'The last day, UTC; without it today',
  },
  {
    name: 'group_by',
    in: 'query',
    schema: { type: 'string' },
    example: 'day,model',
    description: `With commas between them: \`day\` and at most ${MAX_DIMENSIONS} of \`member\`, \`key\`, \`model\`, \`app\`, \`provider\`, \`tag\` (all tags of a request together) and \`tag:team\` (the value of the tag \`team\`). Without it \`day\``,
  },
]

/** Parses the query of `url`. Throws `invalid_request` (400) if it is invalid. */
export function readReportQuery(url: string, nowMs: number): ReportQuery {
  const query = new URLSearchParams(queryOf(url))
  const toMs = query.has('to') ? dayOf(query, 'to') : startOfUtcDay(nowMs)
  const fromMs = query.has('from') ? dayOf(query, 'from') : toMs - (DEFAULT_DAYS - 1) * MS_PER_DAY
  const days = (toMs - fromMs) / MS_PER_DAY + 1
  if (days < 1) throw invalidRequest('from: must not be after to.', 'from')
  if (days > MAX_DAYS) throw invalidRequest(`from: a report has at most ${MAX_DAYS} days.`, 'from')
  return { from: utcDayOf(fromMs), to: utcDayOf(toMs), by: dimensionsOf(query.get('group_by') ?? 'day') }
}

function dayOf(query: URLSearchParams, param: 'from' | 'to'): number {
  const text = query.get(param) ?? ''
  const atMs = DAY.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isFinite(atMs) || utcDayOf(atMs) !== text)
    throw invalidRequest(`${param}: must be a day, yyyy-mm-dd.`, param)
  return atMs
}

function dimensionsOf(text: string): Dimension[] {
  const words = text.split(',').map((word) => word.trim())
  const known = words.filter(isDimension)
  if (known.length < words.length) {
    throw invalidRequest(`group_by: must be some of ${DIMENSIONS.join(', ')} and tag:NAME.`, 'group_by')
  }
  if (new Set(known).size < known.length) throw invalidRequest('group_by: names one of them twice.', 'group_by')
  if (known.filter((word) => word !== 'day').length > MAX_DIMENSIONS) {
    throw invalidRequest(`group_by: at most ${MAX_DIMENSIONS} beside day.`, 'group_by')
  }
  return known
}

function isDimension(word: string): word is Dimension {
  return ONE_TAG.test(word) || DIMENSIONS.some((one) => one === word)
}
