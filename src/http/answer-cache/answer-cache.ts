/** Cached answers in the shared Redis. They share the memory limit with the answers of idempotency keys. */
import {
  asked,
  type KeptAnswer,
  type KeptAnswers,
  namesOf,
  type RunScript,
  textsOf,
} from '@/http/idempotency/kept-answers'
import findText from './find.lua' with { type: 'text' }
import putText from './put.lua' with { type: 'text' }

/** The account and the digest of a request; equal requests have equal digests. */
export type CacheKey = { accountId: string; digest: string }

/** An answer, the request that it was given to, and its age. */
type CachedAnswer = { answer: KeptAnswer; requestId: string; ageMs: number }

export interface AnswerCache {
  /** The cached answer of an equal request, at most `maxAgeMs` old. Throws `overloaded` if Redis does not answer. */
  find(key: CacheKey, maxAgeMs: number): Promise<CachedAnswer | undefined>
  /** Stores an answer for `livesMs`, and replaces an earlier answer with this key. False if there is no room. Throws like `find`. */
  put(key: CacheKey, livesMs: number, requestId: string, answer: KeptAnswer): Promise<boolean>
}

/** Creates the cache over a store. */
export function createAnswerCache(run: RunScript, kept: KeptAnswers): AnswerCache {
  return {
    async find({ accountId, digest }, maxAgeMs) {
      const reply = await asked(run(findText, [namesOf(accountId).answer(digest)], [maxAgeMs]))
      const [ageMs, requestId = '', head = '', body = ''] = textsOf(reply)
      if (ageMs === undefined) return undefined
      return { ageMs: Number(ageMs), requestId, answer: { ...JSON.parse(head), body } }
    },
    put({ accountId, digest }, livesMs, requestId, { status, headers, body }) {
      const { answer, answers, bytes } = namesOf(accountId)
      const head = JSON.stringify({ status, headers })
      const size = head.length + Buffer.byteLength(body)
      const args = [digest, requestId, head, body, size, livesMs]
      return kept.keep(accountId, size, (most) => run(putText, [answer(digest), answers, bytes], [...args, most]))
    },
  }
}
