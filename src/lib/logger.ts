/** Logging: one JSON line per event, with all secrets removed. */
import { createBoundedMap } from './bounded-map'
import { messageOf, stackOf } from './error-text'
import { createRedactor, REDACTED, type Redact } from './redact'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export type LogFields = Record<string, unknown>

/** `event` is a stable snake_case name such as `request_finished`; variable values are in `fields`. */
export interface Logger {
  debug(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
  /** A cheap `info` event: `own` has only our own texts and is written as is; secrets are removed from `foreign`. */
  infoOwn(event: string, own: OwnFields, foreign: Record<string, string>): void
}

/** Plain data whose texts are only ids or names from our code. */
export type OwnFields = { readonly [name: string]: OwnValue } & {
  [name in 'time' | 'level' | 'service' | 'event']?: never
}
export type OwnValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly OwnValue[]
  | { readonly [name: string]: OwnValue }

export type LoggerOptions = {
  level: LogLevel
  /** Writes one line including its line feed. Must neither throw nor block. */
  write(line: string): void
  service: string
  /** By default removes texts that look like keys; pass a redactor that also knows this process's secrets. */
  redact?: Redact
  now?(): number
}

const MAX_STRING_CHARS = 8192
const MAX_DEPTH = 6
/** Maximum values in one line, at all depths together. */
const MAX_VALUES = 500
/** Maximum number and length of texts whose redaction is cached. */
const MAX_REMEMBERED = 256
const MAX_REMEMBERED_CHARS = 128
/** Fields that always have a secret value. */
const SECRET_FIELD = /^(authorization|cookie|set-cookie|password|secret|api[-_]?key|x-.*api-key|access[-_]?token)$/i

/** Creates the root logger. A call below `level` costs one comparison. Error stacks are written only at level debug. */
export function createLogger(options: LoggerOptions): Logger {
  const redact = options.redact ?? createRedactor()
  const now = options.now ?? Date.now
  const threshold = LOG_LEVELS.indexOf(options.level)
  const withStack = options.level === 'debug'

  function logAt(level: LogLevel) {
    if (LOG_LEVELS.indexOf(level) < threshold) return () => {}
    return (event: string, fields?: LogFields): void => {
      const frame = { time: new Date(now()).toISOString(), level, service: options.service, event }
      const rest = cleanFields(() => ({ ...fields }), redact, withStack)
      options.write(`${JSON.stringify({ ...frame, ...rest, ...frame })}\n`)
    }
  }

  const timeText = createTimeText()
  const cleaned = rememberCleaned((text) => JSON.stringify(shorten(redact(text))))
  const head = `"level":"info","service":${JSON.stringify(options.service)},"event":`

  function infoOwn(event: string, own: OwnFields, foreign: Record<string, string>): void {
    let line = `{"time":"${timeText(now())}",${head}"${event}"`
    for (const name in foreign) line += `,"${name}":${cleaned(foreign[name] ?? '')}`
    const rest = JSON.stringify(own)
    options.write(`${line}${rest === '{}' ? '' : ','}${rest.slice(1)}\n`)
  }

  return {
    debug: logAt('debug'),
    info: logAt('info'),
    warn: logAt('warn'),
    error: logAt('error'),
    infoOwn: LOG_LEVELS.indexOf('info') < threshold ? () => {} : infoOwn,
  }
}

/** Formats times, and caches the latest since many lines have the same millisecond. */
function createTimeText(): (atMs: number) => string {
  let lastMs = Number.NaN
  let text = ''
  return (atMs) => {
    if (atMs === lastMs) return text
    lastMs = atMs
    text = new Date(atMs).toISOString()
    return text
  }
}

/** Caches the cleaned forms of short texts, since most requests use the same few models and reasons. */
function rememberCleaned(clean: Redact): Redact {
  const known = createBoundedMap<string, string>(MAX_REMEMBERED)
  return (text) => {
    if (text.length > MAX_REMEMBERED_CHARS) return clean(text)
    const remembered = known.get(text)
    if (remembered !== undefined) return remembered
    const cleaned = clean(text)
    known.set(text, cleaned)
    return cleaned
  }
}

function shorten(text: string): string {
  return text.length > MAX_STRING_CHARS ? `${text.slice(0, MAX_STRING_CHARS)}… [${text.length} characters]` : text
}

/** Converts fields to plain JSON data. Logging must never fail a request, so an error while reading the fields is logged in their place. */
function cleanFields(read: () => LogFields, redact: Redact, withStack: boolean): LogFields {
  try {
    return createCleaner(redact, withStack)(read(), 0) as LogFields
  } catch (error) {
    return { unreadableFields: error instanceof Error ? error.name : true }
  }
}

/** Makes plain JSON data of bounded size. JSON escapes line feeds and terminal codes, so one event stays one line. */
function createCleaner(redact: Redact, withStack: boolean): (value: unknown, depth: number) => unknown {
  let values = 0

  function clean(value: unknown, depth: number): unknown {
    if (++values > MAX_VALUES) return '[too many values]'
    if (typeof value === 'string') return cleanText(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'boolean' || value === null || value === undefined) return value
    if (typeof value !== 'object') return `[${typeof value}]`
    if (depth >= MAX_DEPTH) return '[too deep]'
    if (value instanceof Error) return cleanError(value, depth)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    const items = value instanceof Set ? [...value] : value
    if (Array.isArray(items)) return items.slice(0, MAX_VALUES).map((item) => clean(item, depth + 1))
    return cleanObject(value instanceof Map ? [...value] : Object.entries(items), depth)
  }

  function cleanObject(entries: [unknown, unknown][], depth: number): LogFields {
    const cleaned = entries.slice(0, MAX_VALUES).map(([key, field]) => {
      const name = String(key)
      const isSecret = SECRET_FIELD.test(name) && field !== undefined
      return [cleanText(name), isSecret ? REDACTED : clean(field, depth + 1)]
    })
    return Object.fromEntries(cleaned)
  }

  function cleanError(error: Error, depth: number): LogFields {
    const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
    const stack = withStack ? stackOf(error) : undefined
    return {
      name: cleanText(String(error.name)),
      message: cleanText(messageOf(error)),
      ...code,
      ...(stack ? { stack: cleanText(stack) } : {}),
      ...(error.cause === undefined ? {} : { cause: clean(error.cause, depth + 1) }),
    }
  }

  function cleanText(text: string): string {
    return shorten(redact(text))
  }

  return clean
}
