/** Answers a request that accepts a cached answer: with the cached answer of an equal request, or with a new one, which is cached. */
import { type KeptAnswer, MAX_ANSWER_BYTES } from '@/http/idempotency/kept-answers'
import type { PaidRequest } from '@/http/paid-request'
import { requireActiveKey } from '@/http/require-active-key'
import { allowedText } from '@/ledger/allowed'
import type { Charge, Ending } from '@/ledger/charge'
import { withDeadline } from '@/lib/deadline'
import { sha256Hex } from '@/lib/ids'
import type { JsonObject } from '@/lib/json'
import { asWritten, withChanges } from '@/lib/json-source/as-written'
import { formatUsd, ZERO_NANO } from '@/lib/money'
import { turnFor } from '@/lib/wait/own-turn'
import type { CacheKey } from './answer-cache'
import { CACHE_HEADER } from './cache-wish'

/** `facts`: all that the answer depends on besides the body, such as the stream option and the headers. */
export type Cacheable = { seconds: number; body: JsonObject; bytes: number; facts: readonly unknown[] }

/** Headers that are cached with an answer. All other headers are about one request. */
const REPEATED_HEADERS = [
  ...['content-type', 'cache-control', 'x-accel-buffering', 'x-content-type-options'],
  ...['x-svc-model', 'x-svc-provider', 'x-svc-route-reason', 'x-svc-left-out'],
]
/** Header of an answer whose output limit was lowered, because of low credit. It is not cached: it may be too short for other callers. */
const LOWERED_HEADER = 'x-svc-max-output-tokens'
/** Maximum time that the end of an answer waits until its copy is stored. */
const STORE_PATIENCE_MS = 2_000

/**
 * Runs `answer`, unless an equal request of a key with the same rules got a complete answer in the last `seconds`. A hit is free and counts
 * as a free answer, but without credit it is refused like a paid request. Equal requests that arrive together are all answered and charged.
 * If a rule of account, member or key forbids retention, nothing is stored.
 */
export async function answerCached(
  paid: PaidRequest,
  asked: Cacheable,
  answer: () => Promise<Response>,
): Promise<Response> {
  const { deps, payer } = paid
  const { cache } = deps.idempotency ?? {}
  if (!cache) return answerUncached(paid, answer)
  const allowed = await requireActiveKey(deps, payer, paid)
  const turn = turnFor(asked.bytes)
  if (turn) await turn
  const dataRules = [...(allowed.dataRules ?? []), ...(payer.bounds?.dataRules ?? [])]
  if (dataRules.some(({ kind }) => kind === 'zero-retention')) return answerUncached(paid, answer)
  const rules = [allowedText(allowed), payer.bounds ? allowedText(payer.bounds) : null]
  const key = { accountId: payer.accountId, digest: digestOf(paid, asked, rules) }
  // If Redis does not answer, this is a cache miss, and the reserve that follows reports the fault.
  const found = await cache.find(key, asked.seconds * 1000).catch(() => undefined)
  if (found) {
    await deps.unpaid.admitLarge(payer)
    deps.unpaid.answer(payer)
    deps.unpaid.charge(payer, paid.share?.bytesRead ?? 0)
    deps.metrics.cached('hit')
    paid.onEnd()
    deps.requestLog.replayed(paid.line, found.requestId, found.answer.status)
    paid.once?.onSettled('complete', { kind: 'free' })
    return hit(paid, found.answer, found.ageMs)
  }
  deps.metrics.cached('miss')
  const ended = Promise.withResolvers<boolean>()
  paid.observed = (ending, charge) => ended.resolve(isWhole(ending, charge))
  const response = await answer()
  response.headers.set(CACHE_HEADER, 'miss')
  const { status, headers, body } = response
  if (status !== 200 || !body || headers.has(LOWERED_HEADER)) return response
  const head = { status, headers: [...headers].filter(([name]) => REPEATED_HEADERS.includes(name)) }
  const copied = body.pipeThrough(
    copyOf(async (text) => {
      const storing = ended.promise.then((whole) =>
        whole ? store(paid, key, asked.seconds, { ...head, body: text }) : undefined,
      )
      await withDeadline(storing, STORE_PATIENCE_MS, () => undefined)
    }),
  )
  return new Response(copied, { status, headers })
}

/** Answers without the cache, and says so in a header. */
export async function answerUncached(paid: PaidRequest, answer: () => Promise<Response>): Promise<Response> {
  paid.deps.metrics.cached('bypass')
  const response = await answer()
  response.headers.set(CACHE_HEADER, 'bypass')
  return response
}

/** The digest of a request. The hashed text has a line break, which no idempotency key has, so no key has the same digest. */
function digestOf({ format, endpoint }: PaidRequest, { body, facts }: Cacheable, rules: readonly unknown[]): string {
  const about = JSON.stringify([format.name, endpoint.route, ...rules, ...facts])
  return sha256Hex(`cache\n${about}\n${JSON.stringify(asWritten(withoutWish(body)))}`)
}

/** The body without `svc.cache`: a header may replace it, and the digest must then be the same. */
function withoutWish(body: JsonObject): JsonObject {
  const { svc } = body
  if (typeof svc !== 'object' || svc === null || Array.isArray(svc) || !('cache' in svc)) return body
  const rest = withChanges(svc, { cache: undefined })
  return withChanges(body, { svc: Object.keys(svc).length === 1 ? undefined : rest })
}

function isWhole(ending: Ending, charge: Charge): boolean {
  return ending === 'complete' && charge.kind === 'charge'
}

function hit({ format, requestId }: PaidRequest, { status, headers, body }: KeptAnswer, ageMs: number): Response {
  const own: [string, string][] = [
    ['x-request-id', requestId],
    [CACHE_HEADER, 'hit'],
    ['age', String(Math.floor(ageMs / 1000))],
    ['x-svc-cost-usd', formatUsd(ZERO_NANO)],
  ]
  if (format.requestIdHeader) own.push([format.requestIdHeader, requestId])
  return new Response(body, { status, headers: [...headers, ...own] })
}

/** Stores an answer in the cache, if there is room. */
async function store(
  { deps, requestId }: PaidRequest,
  key: CacheKey,
  seconds: number,
  answer: KeptAnswer,
): Promise<void> {
  try {
    if (await deps.idempotency?.cache.put(key, seconds * 1000, requestId, answer)) deps.metrics.cached('kept')
  } catch (error) {
    deps.logger.warn('answer_not_cached', { requestId, error })
  }
}

/** Passes an answer on and collects it. The client gets the end after `onEnd`. An answer that is too long is not collected. */
function copyOf(onEnd: (text: string) => Promise<void>): TransformStream<Uint8Array, Uint8Array> {
  let pieces: Uint8Array[] | undefined = []
  let size = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      size += piece.length
      if (size > MAX_ANSWER_BYTES) pieces = undefined
      pieces?.push(piece)
      controller.enqueue(piece)
    },
    async flush() {
      if (pieces) await onEnd(Buffer.concat(pieces).toString())
    },
  })
}
