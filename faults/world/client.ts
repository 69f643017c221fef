/** A client of the gateway in any of the three formats: sends one request and writes down exactly what it saw. */
import { readStreamed, readWhole, type StreamReading } from './reading'
import { type ClientFormat, requestOf, type Wish } from './request'

/**
 * How an answer ended: `complete` with the format's own end; `error-event` in the format's own words; `broken` by the
 * connection; `silent` cleanly but without an end, which must never be; `refused` with a status; `unanswered` without one;
 * `hung-up` by ourselves.
 */
type Ending = 'complete' | 'error-event' | 'broken' | 'silent' | 'refused' | 'unanswered' | 'hung-up'

/** What the client saw. */
export type Sighting = {
  marker: string
  accountId: string
  format: ClientFormat
  stream: boolean
  words: number
  ending: Ending
  /** 0 where there was no answer. */
  status: number
  requestId: string | undefined
  retryAfter: string | null
  /** The machine-readable word of a refusal. */
  code: string | undefined
  /** The words that arrived. */
  text: string
  /** Everything that arrived, and the headers: what secrets are looked for in. */
  raw: string
  startedAtMs: number
  durationMs: number
}

const REQUEST_TIMEOUT_MS = 60_000
const MARKER_CHARS = 9

/** A name for a request that no other has. */
export function newMarker(): string {
  return `m${crypto.randomUUID().replaceAll('-', '').slice(0, MARKER_CHARS)}`
}

/** Sends `wish` to the gateway at `url`. Never rejects. */
export async function send(url: string, wish: Wish): Promise<Sighting> {
  const { customer, format = 'chat-completions', stream = false, words = 5, marker = newMarker() } = wish
  const sighting: Sighting = {
    ...{ marker, accountId: customer.accountId, format, stream, words, ending: 'unanswered', status: 0 },
    ...{ requestId: undefined, retryAfter: null, code: undefined, text: '', raw: '' },
    ...{ startedAtMs: Date.now(), durationMs: 0 },
  }
  const started = performance.now()
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), wish.timeoutMs ?? REQUEST_TIMEOUT_MS)
  try {
    const { path, headers, body } = requestOf({ ...wish, marker })
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...headers,
        ...(wish.idempotencyKey !== undefined && { 'idempotency-key': wish.idempotencyKey }),
      },
      body: JSON.stringify(body),
      signal: controller.signal,
      keepalive: false,
    })
    sighting.status = response.status
    sighting.requestId = response.headers.get('x-request-id') ?? undefined
    sighting.retryAfter = response.headers.get('retry-after')
    sighting.raw = JSON.stringify([...response.headers])
    sighting.ending = 'broken'
    Object.assign(sighting, await read(response, wish, sighting, controller))
  } catch {
    // What was seen until now is what there is to tell.
  } finally {
    clearTimeout(timer)
    sighting.durationMs = performance.now() - started
  }
  return sighting
}

async function read(
  response: Response,
  wish: Wish,
  sighting: Sighting,
  controller: AbortController,
): Promise<Partial<Sighting>> {
  if (response.status !== 200) {
    const text = await response.text()
    return { ending: 'refused', code: codeOf(text), raw: sighting.raw + text }
  }
  if (!sighting.stream) {
    const raw = await response.text()
    const text = readWhole(sighting.format, raw)
    return text === undefined
      ? { ending: 'silent', raw: sighting.raw + raw }
      : { ending: 'complete', text, raw: sighting.raw + raw }
  }
  const isEnough = ({ text }: StreamReading) =>
    wish.hangUpAfterWords !== undefined && wordCount(text) >= wish.hangUpAfterWords
  const reading = await readStreamed(sighting.format, response, isEnough, () => controller.abort())
  return { ending: reading.ending, text: reading.text, raw: sighting.raw + reading.raw }
}

/** Words that arrived whole. */
export function wordCount(text: string): number {
  return text.split(' ').length - 1
}

function codeOf(text: string): string | undefined {
  const code = /"(?:code|type|status)":\s*"([^"]+)"/.exec(text.replace(/"type":\s*"error"/, ''))
  return /"code":\s*"([^"]+)"/.exec(text)?.[1] ?? code?.[1]
}
