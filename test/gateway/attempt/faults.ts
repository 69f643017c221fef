/** The faults of a provider as a table: what it does, and what follows for a caller who has nothing to fall back to, and for one who has. */
import { type FormatName, type Script, silence, soundAnswer, status } from '@test/gateway/scripted-models'
import { eventText, streamOf, WORDS } from './provider-words'

/**
 * Limits of the providers, in milliseconds: those of silence are reached in tests, but by no load. Nothing else would end one
 * before the test's own limit.
 */
export const TIMEOUTS = { connectMs: 2_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 900_000, hedgeMs: 2_500 }

type Behaviour = (format: FormatName, stream: boolean) => Script

export type Fault = {
  name: string
  /** A script, or the name of an address where none is played. */
  provider: Behaviour | string
  /** The status without a fallback, and how many calls were made by then. */
  alone: [status: number, calls: number]
  /** How many calls are made before the fallback's; none if that isn't asked. */
  callsBefore: number
  /** What the attempts are said to have met. */
  reason: RegExp
  /** Of the refusal. */
  retryAfter?: string
}

type Row = [
  ...[name: string, provider: Behaviour | string, status: number, alone: number, callsBefore: number, reason: RegExp],
  ...[retryAfter?: string],
]

// On a busy machine the next target may be asked, for its silence, before the connection is given up.
const UNCONNECTED = /^(silent|(connect|first-byte|idle)-timeout)$/
const SILENT = /^(silent|silence-timeout|first-byte-timeout|idle-timeout)$/

const code =
  (number: number, headers?: Record<string, string>): Behaviour =>
  () =>
    status(number, headers)

/** An answer of this type, with any text. */
const says =
  (text: string, type = 'application/json'): Behaviour =>
  () =>
  () =>
    new Response(text, { headers: { 'content-type': type } })

const refusesWith =
  (number: number, message: string): Behaviour =>
  () =>
  () =>
    Response.json({ error: { message, type: 'invalid_request_error' } }, { status: number })

/** Stands for the first half of a sound answer. */
async function half(format: FormatName): Promise<string> {
  const text = await soundAnswer(format, false).text()
  return text.slice(0, text.length / 2)
}

/** Says half a body, and no more. */
function stall(text: string): Response {
  const bytes = new TextEncoder().encode(text)
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes) })
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

const afterRole =
  (...rest: ('end' | 'error' | 'tooLong')[]): Behaviour =>
  (format) =>
  () => {
    const words = WORDS[format]
    const events = [...words.role, ...rest.flatMap((part) => words[part])]
    return new Response(eventText(events), { headers: { 'content-type': 'text/event-stream' } })
  }

const headersOnly: Behaviour = (_, stream) => () => (stream ? streamOf().response : stall(''))

const errorAfterText = (format: FormatName) => () => thenCut(textOf(format, WORDS[format].error))

const redirects: Behaviour = () => () =>
  new Response(null, { status: 307, headers: { location: 'http://127.0.0.1:9/' } })

const EVENTS = 'text/event-stream'
const TOO_LONG = 'maximum context length is 10 tokens'
const FILTERED = 'The response was filtered due to the prompt triggering our content management policy'

// What it does; the status without a fallback; calls without one; calls before the fallback's, 0 if it isn't asked; the reason.
const ROWS: Row[] = [
  // Dead
  ['refuses connections', 'refused', 502, 2, 2, /^unreachable$/],
  ['has a name that nobody knows', 'unknown', 502, 2, 2, /^unreachable$/],
  ['resets the connection', 'reset', 502, 2, 2, /^unreachable$/],
  ['does not speak TLS', 'plain', 502, 2, 2, /^unreachable$/],
  // Hung
  ['takes no connection', 'silent', 504, 2, 1, UNCONNECTED],
  ['is silent before the headers', () => silence, 504, 2, 1, SILENT],
  ['is silent after the headers', headersOnly, 504, 2, 1, SILENT],
  ['is silent after the role', (format) => () => streamOf(...WORDS[format].role).response, 504, 2, 1, SILENT],
  // Lying
  ['says HTML in a 200', says('<html>', 'text/html'), 502, 2, 2, /^malformed$/],
  ['says nothing in a 200', says(''), 502, 2, 2, /^malformed$/],
  ['says something else in a 200', says('{"choices":"none"}'), 502, 2, 2, /^malformed$/],
  ['says what is no JSON in a 200', says('{"cho'), 502, 2, 2, /^malformed$/],
  ['streams what is no JSON', says('data: {"cho\n\n', EVENTS), 502, 2, 2, /^502$/],
  ['streams under another type', says('data: {}\n\n', 'text/plain'), 502, 2, 2, /^malformed$/],
  ['streams nothing', says('', EVENTS), 502, 2, 2, /^broken$/],
  ['says its role and the end', afterRole('end'), 502, 2, 2, /^(malformed|broken)$/],
  ['says its role and is cut', afterRole(), 502, 2, 2, /^broken$/],
  ['says its role and an error', afterRole('error'), 503, 2, 2, /^(503|529)$/, '1'],
  ['says its role and that the prompt is too long', afterRole('tooLong'), 400, 1, 1, /^(400|502)$/],
  ['says an error in a 200', (format) => () => Response.json(WORDS[format].error), 503, 2, 2, /^(503|529)$/, '1'],
  ['redirects elsewhere', redirects, 502, 2, 2, /^unreachable$/],
  // Refusing
  ['400 blames the request', refusesWith(400, 'roles must alternate'), 400, 1, 0, /^400$/],
  ['400 of a content filter', refusesWith(400, FILTERED), 400, 1, 1, /^400$/],
  ['400 too long a prompt', refusesWith(400, TOO_LONG), 400, 1, 1, /^400$/],
  ['401', code(401), 502, 1, 1, /^401$/],
  ['402', code(402), 502, 1, 1, /^402$/],
  ['403', code(403), 502, 1, 1, /^403$/],
  ['404', code(404), 502, 1, 1, /^404$/],
  ['408', code(408), 504, 2, 1, /^408$/],
  ['409', code(409), 502, 2, 2, /^409$/],
  ['413', code(413), 413, 1, 1, /^413$/],
  ['429', code(429), 503, 1, 1, /^429$/, '1'],
  ['429 for 7 s', code(429, { 'retry-after': '7' }), 503, 1, 1, /^429$/, '7'],
  ['500', code(500), 502, 2, 2, /^500$/],
  ['502', code(502), 502, 2, 2, /^502$/],
  ['503', code(503), 503, 2, 2, /^503$/, '1'],
  ['503 for 1 s', code(503, { 'retry-after': '1' }), 503, 2, 2, /^503$/, '1'],
  ['503 for 7 s', code(503, { 'retry-after': '7' }), 503, 1, 1, /^503$/, '7'],
  ['504', code(504), 504, 2, 1, /^504$/],
  ['529', code(529), 503, 2, 2, /^529$/, '1'],
]

/** Faults that strike before anything of the answer is told, for JSON and streams alike. */
export const FAULTS: Fault[] = ROWS.map(faultOf)

/** Faults that strike in the middle of an answer that is given whole, so that nothing of it is told yet. */
export const HALF_WAY: Fault[] = (
  [
    ['is silent after half a body', (format) => async () => stall(await half(format)), 504, 2, 1, SILENT],
    ['ends after half a body', (format) => async () => new Response(await half(format)), 502, 2, 2, /^malformed$/],
    ['is cut after half a stream', (format) => () => thenCut(textOf(format)), 502, 2, 2, /^broken$/],
    ['says an error after half a stream', errorAfterText, 503, 2, 2, /^(503|529)$/, '1'],
    ['is silent after half a stream', (format) => () => textOf(format).response, 504, 2, 1, SILENT],
  ] satisfies Row[]
).map(faultOf)

function faultOf([name, provider, number, calls, callsBefore, reason, retryAfter]: Row): Fault {
  const fault: Fault = {
    name,
    provider,
    alone: [number, calls],
    callsBefore,
    reason,
  }
  return retryAfter === undefined ? fault : { ...fault, retryAfter }
}

/** The role and a few words. */
function textOf(format: FormatName, ...rest: unknown[]): ReturnType<typeof streamOf> {
  return streamOf(...WORDS[format].role, ...WORDS[format].text, ...rest)
}

function thenCut({ close, response }: ReturnType<typeof streamOf>): Response {
  close()
  return response
}

/** What ends a stream of which something was told already; the connection breaks only then. */
export const BREAKS: [name: string, provider: (format: FormatName) => { script: Script; onText?: () => void }][] = [
  ['is silent', (format) => ({ script: () => textOf(format).response })],
  ['ends without its terminator', (format) => ({ script: () => thenCut(textOf(format)) })],
  ['says an error', (format) => ({ script: errorAfterText(format) })],
  [
    'breaks the connection',
    (format) => {
      const live = textOf(format)
      return { script: () => live.response, onText: live.error }
    },
  ],
]
