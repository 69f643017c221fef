/** Formats amounts, counts and times for the pages. Amounts are decimal texts and never used in calculations. */

const GROUPS = /\B(?=(\d{3})+(?!\d))/g
const MIN_DECIMALS = 2
/** Decimals of amounts below a dollar: enough to distinguish the costs of single requests. The exact amount is in the tooltip. */
const SMALL_DECIMALS = 4
const SMALL_DIGITS = 3

/** `"1234.5"` → `"$1,234.50"`. `decimals`: that many digits. `isExact`: all digits. Default: cents, and more digits below a dollar. */
export function formatMoney(usd: string, { isExact = false, decimals }: MoneyFormat = {}): string {
  const isNegative = usd.startsWith('-')
  const [whole = '0', fraction = ''] = usd.replace('-', '').split('.')
  const shown = decimals === undefined ? (isExact ? fraction : shorten(whole, fraction)) : fraction.slice(0, decimals)
  return `${isNegative ? '−' : ''}$${whole.replace(GROUPS, ',')}.${shown.padEnd(decimals ?? MIN_DECIMALS, '0')}`
}

type MoneyFormat = { isExact?: boolean; decimals?: number | undefined }

/** Number of decimals for a column of amounts, so that their digits align: as many as the finest amount needs. */
export function decimalsOf(amounts: readonly string[], { isExact = false } = {}): number {
  const needed = amounts.map((usd) => formatMoney(usd, { isExact }).split('.')[1]?.length ?? 0)
  return Math.max(MIN_DECIMALS, ...needed)
}

function shorten(whole: string, fraction: string): string {
  const significant = fraction.search(/[1-9]/)
  if (whole !== '0' || significant === -1) return fraction.slice(0, MIN_DECIMALS)
  return fraction.slice(0, Math.max(SMALL_DECIMALS, significant + SMALL_DIGITS)).replace(/0+$/, '')
}

/** `12345` → `"12,345"`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

const COMPACT_FROM = 1_000_000

/** `1234567` → `"1.23M"`; `123456` → `"123,456"`. */
export function formatCompact(count: number): string {
  if (Math.abs(count) < COMPACT_FROM) return formatCount(count)
  return count.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 2 })
}

const BYTES_A_STEP = 1000

/** `1234567` → `"1.2 MB"`. */
export function formatBytes(bytes: number): string {
  let [size, unit] = [bytes, 'B']
  for (const larger of ['kB', 'MB', 'GB']) {
    if (size < BYTES_A_STEP) break
    size /= BYTES_A_STEP
    unit = larger
  }
  return `${size.toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`
}

/** Milliseconds as `"320 ms"` or `"1.8 s"`. */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

/** A time (ISO 8601) in the viewer's zone, such as `"21 Nov 2026, 14:05"`, with seconds `"…, 14:05:09"`. */
export function formatMoment(iso: string, { hasSeconds = false } = {}): string {
  return new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: hasSeconds ? 'medium' : 'short' })
}

const DAY_CHARS = 'yyyy-mm-dd'.length

/** A day such as `"21 Nov 2026"`. A text `yyyy-mm-dd` is that day in every zone; a time is shown as the day in the viewer's zone. */
export function formatDay(iso: string): string {
  const zone = iso.length === DAY_CHARS ? { timeZone: 'UTC' } : {}
  return new Date(iso).toLocaleDateString('en-GB', { dateStyle: 'medium', ...zone })
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** A time relative to now, such as `"5 minutes ago"`. */
export function formatRelative(iso: string, nowMs = Date.now()): string {
  const difference = new Date(iso).getTime() - nowMs
  const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
  for (const [unit, length] of STEPS) {
    if (Math.abs(difference) >= length) return format.format(Math.round(difference / length), unit)
  }
  return 'just now'
}

/** A provider-run tool's display name: `web_search` becomes `Web search`. */
export function toolLabel(name: string): string {
  const words = name.replaceAll('_', ' ')
  return capitalise(words)
}

/** The text with its first letter in upper case. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
