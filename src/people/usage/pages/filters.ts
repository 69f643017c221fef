/** The usage page's filters in the URL, so that a view can be shared or bookmarked. */
import { useSearchParams } from 'wouter'
import type { FilterQuery } from '@/people/usage/query'

export const RANGES = [
  { value: '24h', label: 'Last 24 hours' },
  { value: '3d', label: 'Last 3 days' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '90d', label: 'Last 90 days' },
  { value: '365d', label: 'Last 12 months' },
  { value: 'days', label: 'Choose days' },
] as const
export type Range = (typeof RANGES)[number]['value']

const FIELDS = [
  'from',
  'to',
  'key',
  'model',
  'requestedModel',
  'status',
  'flag',
  'rule',
  'member',
  'tag',
  'app',
] as const
type Field = (typeof FIELDS)[number]

/** Texts as in the URL; '' = no filter. `from` and `to` are days (UTC), inclusive, and only used if the range is `days`. */
export type UsageFilters = { range: Range } & Record<Field, string>

const DEFAULT_RANGE: Range = '30d'
const MS_PER_DAY = 86_400_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The filters in the URL, with functions to change them. */
export function useFilters() {
  const [params, setParams] = useSearchParams()
  const filters = readFilters(params)
  return {
    filters,
    /** Whether there are filters other than the time. */
    isNarrowed: FIELDS.some((name) => name !== 'from' && name !== 'to' && filters[name] !== ''),
    change(changes: Partial<UsageFilters>) {
      setParams((before) => write(before, changes), { replace: true })
    },
    clear() {
      setParams((before) => write(before, Object.fromEntries(FIELDS.map((name) => [name, '']))), { replace: true })
    },
  }
}

/** Reads the filters; invalid ones are ignored. */
function readFilters(params: URLSearchParams): UsageFilters {
  const range = RANGES.find(({ value }) => value === params.get('range'))?.value ?? DEFAULT_RANGE
  const text = (name: Field) => params.get(name) ?? ''
  const day = (name: 'from' | 'to') => (DAY.test(text(name)) && !Number.isNaN(Date.parse(text(name))) ? text(name) : '')
  return {
    ...(Object.fromEntries(FIELDS.map((name) => [name, text(name)])) as Record<Field, string>),
    range,
    from: day('from'),
    to: day('to'),
  }
}

/** The filters as the server expects them. Ranges of days begin at midnight UTC, like the chart's bars. */
export function toQuery(filters: UsageFilters, nowMs = Date.now()) {
  const { range, from, to, ...rest } = filters
  const entries = Object.entries(rest).filter(([, value]) => value !== '')
  return { ...(Object.fromEntries(entries) as FilterQuery), ...timesOf({ range, from, to }, nowMs) }
}

function timesOf({ range, from, to }: Pick<UsageFilters, 'range' | 'from' | 'to'>, nowMs: number) {
  if (range === '24h') return { from: new Date(nowMs - MS_PER_DAY).toISOString() }
  if (range !== 'days') {
    const today = Math.floor(nowMs / MS_PER_DAY) * MS_PER_DAY
    return { from: new Date(today - (Number.parseInt(range, 10) - 1) * MS_PER_DAY).toISOString() }
  }
  return {
    ...(from !== '' && { from: new Date(Date.parse(from)).toISOString() }),
    ...(to !== '' && { to: new Date(Date.parse(to) + MS_PER_DAY).toISOString() }),
  }
}

function write(before: URLSearchParams, changes: Partial<UsageFilters>): URLSearchParams {
  const params = new URLSearchParams(before)
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || (name === 'range' && value === DEFAULT_RANGE)) params.delete(name)
    else params.set(name, value)
  }
  return params
}
