/** Idempotency keys (as digests) and stored answers in the shared Redis. An account's are in one slot, limited in time and size. */
import type { Payer } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { sha256Hex } from '@/lib/ids'
import { SHARED } from '@/limits/shared-resources'
import claimText from './claim.lua' with { type: 'text' }
import endText from './end.lua' with { type: 'text' }
import keepText from './keep.lua' with { type: 'text' }
import {
  asked,
  createKeptAnswers,
  KEEP_MS,
  type KeptAnswer,
  type KeptAnswers,
  namesOf,
  type RunScript,
  textsOf,
} from './kept-answers'
import knownText from './known.lua' with { type: 'text' }
import { ALL_ROOM, type Room } from './room'

/** A request that claims its key. `fingerprint` identifies its content. */
export type Claimant = Payer & { idempotencyKey: string; fingerprint: string; requestId: string }

/** The outcome of a claim. `open` and `spent` name the request that has the key; if open, its gateway may be dead. */
type ClaimOutcome =
  | { kind: 'claimed' }
  | { kind: 'full'; retryAfterMs: number }
  | { kind: 'reused'; requestId: string }
  | { kind: 'kept'; requestId: string; answer: KeptAnswer }
  | { kind: 'open' | 'spent'; requestId: string; keyId: string; ageMs: number }

export interface Claims {
  /**
   * Claims the key, or returns the request that has it. Throws `overloaded` if Redis does not answer, because without a claim no request is
   * sent.
   */
  claim(claimant: Claimant): Promise<ClaimOutcome>
  /** Whether a request of the account has claimed the key. Throws like `claim`. */
  isKnown(claimant: Pick<Claimant, 'accountId' | 'idempotencyKey'>): Promise<boolean>
  /** Takes the claim over from a request that has ended uncharged. False if another request was faster. */
  takeOver(claimant: Claimant, fromRequestId: string): Promise<boolean>
  /** Stores the answer. False if there is no room, or another request has the claim. */
  keep(claimant: Claimant, answer: KeptAnswer): Promise<boolean>
  /** Frees the key for another request, because no charge was made. */
  free(claimant: Claimant): Promise<void>
  /** Marks the key as used, without an answer that could be sent again. */
  spend(claimant: Claimant): Promise<void>
}

type ClaimsOptions = {
  run: RunScript
  limits?: { claims: number; accountBytes: number }
  room?: Room
  /** The memory for stored answers, if the answer cache shares it. */
  kept?: KeptAnswers
}

const LIMITS = { claims: SHARED.idempotencyKeys.perAccount, accountBytes: SHARED.keptAnswers.perAccount }

/** Creates the claims over a store. */
export function createClaims({
  run,
  limits = LIMITS,
  room = ALL_ROOM,
  kept = createKeptAnswers({ run, accountBytes: limits.accountBytes, room }),
}: ClaimsOptions): Claims {
  async function end(claimant: Claimant, requestId: string, ...how: string[]): Promise<boolean> {
    const { answer: claim, claims } = claimNamesOf(claimant.accountId)
    const digest = digestOf(claimant)
    return (await asked(run(endText, [claim(digest), claims], [digest, requestId, ...how]))) === 1
  }

  return {
    async claim(claimant) {
      const { fingerprint, requestId, keyId } = claimant
      const { answer: claim, claims } = claimNamesOf(claimant.accountId)
      const digest = digestOf(claimant)
      const args = [digest, fingerprint, requestId, keyId, KEEP_MS, room.claims(limits.claims)]
      const reply = asked(run(claimText, [claim(digest), claims], args))
      // If no reply came, the claim may have succeeded, so it is freed.
      reply.catch(() => end(claimant, requestId, 'free').catch(() => undefined))
      return outcomeOf(await reply)
    },
    async isKnown(claimant) {
      const { answer: claim } = namesOf(claimant.accountId)
      return (await asked(run(knownText, [claim(digestOf(claimant))], []))) === 1
    },
    takeOver: (claimant, from) => end(claimant, from, 'taken', claimant.requestId, claimant.keyId),
    async keep(claimant, { status, headers, body }) {
      const { accountId, requestId } = claimant
      const { answer: claim, answers, bytes } = namesOf(accountId)
      const digest = digestOf(claimant)
      const head = JSON.stringify({ status, headers })
      const size = head.length + Buffer.byteLength(body)
      const args = [digest, requestId, head, body, size]
      return kept.keep(accountId, size, (most) => run(keepText, [claim(digest), answers, bytes], [...args, most]))
    },
    async free(claimant) {
      await end(claimant, claimant.requestId, 'free')
    },
    async spend(claimant) {
      await end(claimant, claimant.requestId, 'spent')
    },
  }
}

/** The Redis keys of an account, with the sorted set of its claims. */
function claimNamesOf(accountId: string) {
  return { ...namesOf(accountId), claims: `idempotency:{${accountId}}:claims` }
}

/** An idempotency key is any text that a client chooses, so Redis keys contain only its digest. */
export const digestOf = ({ idempotencyKey }: Pick<Claimant, 'idempotencyKey'>): string => sha256Hex(idempotencyKey)

function outcomeOf(reply: unknown): ClaimOutcome {
  const [kind, second = '', third = '', fourth = ''] = textsOf(reply)
  switch (kind) {
    case 'claimed':
      return { kind }
    case 'full':
      return { kind, retryAfterMs: Number(second) }
    case 'reused':
      return { kind, requestId: second }
    case 'kept':
      return { kind, requestId: second, answer: { ...JSON.parse(third), body: fourth } }
    default:
      assert(kind === 'open' || kind === 'spent', 'a claim is open, kept or spent')
      return { kind, requestId: second, keyId: third, ageMs: Number(fourth) }
  }
}
