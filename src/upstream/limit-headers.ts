/** What the headers of a refusal say of limits: when the provider wants to be asked again, and whether anything is left for others. */
import type { ProviderError } from '@/chat/provider-error'

/** No wish to be left alone is taken for longer. */
const MAX_RETRY_AFTER_SECONDS = 3600
/** Less than this part of a limit is nothing: hardly a request fits into it. */
const LEAST_PART_LEFT = 0.01

/** The names that providers of any format give to a limit, to what is left of it and to when it is whole again. */
const NAMES = [
  ...['requests', 'tokens'].map((what) => namesOf('x-ratelimit', `-${what}`)),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((what) => namesOf(`anthropic-ratelimit-${what}`)),
  namesOf('x-ratelimit'),
]

function namesOf(before: string, after = '') {
  return { limit: `${before}-limit${after}`, left: `${before}-remaining${after}`, reset: `${before}-reset${after}` }
}

/** Of a 429, also what is left; where nothing is and no time is named, the time at which there will be. */
export function limitsIn(headers: Headers, status: number): Pick<ProviderError, 'retryAfterSeconds' | 'left'> {
  const asked = retryAfter(headers)
  if (status !== 429) return asked === undefined ? {} : { retryAfterSeconds: asked }
  const known = NAMES.flatMap((names) => limitNamed(headers, names))
  const spent = known.filter(({ isSpent }) => isSpent)
  const resets = spent.flatMap(({ resetSeconds }) => resetSeconds ?? [])
  const retryAfterSeconds = asked ?? (resets.length > 0 ? Math.max(...resets) : undefined)
  return {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(known.length > 0 && { left: spent.length > 0 ? 'nothing' : 'something' }),
  }
}

function limitNamed(headers: Headers, names: ReturnType<typeof namesOf>) {
  const left = figure(headers.get(names.left))
  if (left === undefined) return []
  const limit = figure(headers.get(names.limit)) ?? 0
  return [{ isSpent: left === 0 || left < limit * LEAST_PART_LEFT, resetSeconds: resetOf(headers.get(names.reset)) }]
}

function figure(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function retryAfter(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (milliseconds >= 0) return bounded(milliseconds / 1000)
  const text = headers.get('retry-after')
  if (text === null) return undefined
  return /^\d+(\.\d+)?$/.test(text) ? bounded(Number(text)) : untilDate(text)
}

/** `6m0s`, `1.2s` and `120ms`, or a date; a bare number may be seconds, milliseconds or a date, so it says nothing. */
function resetOf(text: string | null): number | undefined {
  if (text === null || /^[\d.]*$/.test(text)) return undefined
  const match = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(text)
  if (!match) return untilDate(text)
  const [hours, minutes, seconds, milliseconds] = match.slice(1).map((part) => Number(part ?? 0)) as Parts
  return bounded(hours * 3600 + minutes * 60 + seconds + milliseconds / 1000)
}

type Parts = [number, number, number, number]

function untilDate(text: string): number | undefined {
  return bounded((Date.parse(text) - Date.now()) / 1000)
}

function bounded(seconds: number): number | undefined {
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS) : undefined
}
