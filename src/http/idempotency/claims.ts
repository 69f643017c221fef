/**
 * Which request has which idempotency key, and the answers that are kept for a repetition: in the store that all gateways share,
 * an account's in one cluster slot, for so long and so much. What is stored of a key and of a request are digests.
 */
import { GatewayError } from '@/chat/error'
import type { Payer } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { sha256Hex } from '@/lib/ids'
import claimText from './claim.lua' with { type: 'text' }
import dropText from './drop.lua' with { type: 'text' }
import endText from './end.lua' with { type: 'text' }
import keepText from './keep.lua' with { type: 'text' }

/** A request that wants to be the only one with its key. `fingerprint` tells it from any other. */
export type Claimant = Payer & { idempotencyKey: string; fingerprint: string; requestId: string }

/** An answer as it was given. */
export type KeptAnswer = { status: number; headers: [string, string][]; body: string }

/** What became of a claim. `open` and `spent` name who has it; an open one may be a dead gateway's. */
type ClaimOutcome =
  | { kind: 'claimed' }
  | { kind: 'full'; retryAfterMs: number }
  | { kind: 'reused'; requestId: string }
  | { kind: 'kept'; requestId: string; answer: KeptAnswer }
  | { kind: 'open' | 'spent'; requestId: string; keyId: string; ageMs: number }

export interface Claims {
  /** Claims the key, or tells who has it. Throws `overloaded` where the store does not say: nothing is sent without a claim. */
  claim(claimant: Claimant): Promise<ClaimOutcome>
  /** Takes over from a request that is over and was not charged. False where somebody else was faster. */
  takeOver(claimant: Claimant, fromRequestId: string): Promise<boolean>
  /** Keeps the answer. False where there is no room, or the claim is no longer this request's. */
  keep(claimant: Claimant, answer: KeptAnswer): Promise<boolean>
  /** The key may be used again: nothing was charged. */
  free(claimant: Claimant): Promise<void>
  /** The key is used up: what was charged can't be given again. */
  spend(claimant: Claimant): Promise<void>
}

/** Runs a script on names of one slot of the store. */
export type RunScript = (text: string, names: readonly string[], args: readonly (string | number)[]) => Promise<unknown>

/** How long a key is remembered, and its answer with it. */
export const KEEP_MS = 24 * 60 * 60 * 1000
/** Longer answers can't be given again. */
export const MAX_ANSWER_BYTES = 1024 * 1024
/** What an account's kept answers take together: beyond it, the oldest are dropped. */
export const MAX_ACCOUNT_BYTES = 32 * 1024 * 1024
/** Of the memory up to which the store takes requests, the part beyond which no answers are kept; nearer to it, fewer. */
const ANSWERS_SHARE = 0.5
/** The keys of an account that are remembered at once. */
export const MAX_CLAIMS = 50_000
/** How often room is made for one answer. Each time drops up to a hundred. */
const MAX_DROPS = 20

/**
 * Creates the claims over a store. `limits` are those above, unless a test has smaller ones. `room` is the part of an account's bytes
 * that the store has room for now, 0 to 1: what is kept may crowd out nothing that is needed.
 */
export function createClaims(
  run: RunScript,
  limits = { claims: MAX_CLAIMS, accountBytes: MAX_ACCOUNT_BYTES },
  room: () => number = () => 1,
): Claims {
  async function end(claimant: Claimant, requestId: string, ...how: string[]): Promise<boolean> {
    const { claim, claims, digest } = namesOf(claimant)
    return (await asked(run(endText, [claim, claims], [digest, requestId, ...how]))) === 1
  }

  return {
    async claim(claimant) {
      const { fingerprint, requestId, keyId } = claimant
      const { claim, claims, digest } = namesOf(claimant)
      const args = [digest, fingerprint, requestId, keyId, KEEP_MS, limits.claims]
      const reply = asked(run(claimText, [claim, claims], args))
      // The claim may have happened although its answer was lost.
      reply.catch(() => end(claimant, requestId, 'free').catch(() => undefined))
      return outcomeOf(await reply)
    },
    takeOver: (claimant, from) => end(claimant, from, 'taken', claimant.requestId, claimant.keyId),
    async keep(claimant, { status, headers, body }) {
      const { claim, answers, bytes, digest, claimOf } = namesOf(claimant)
      const head = JSON.stringify({ status, headers })
      const size = head.length + Buffer.byteLength(body)
      const most = Math.floor(limits.accountBytes * room())
      const args = [digest, claimant.requestId, head, body, size, most]
      for (let drops = 0; drops < MAX_DROPS; drops++) {
        const [kind, ...oldest] = textsOf(await asked(run(keepText, [claim, answers, bytes], args)))
        if (kind !== 'full') return kind === 'kept'
        if (oldest.length === 0) return false
        await asked(run(dropText, [answers, bytes, ...oldest.map(claimOf)], oldest))
      }
      return false
    },
    async free(claimant) {
      await end(claimant, claimant.requestId, 'free')
    },
    async spend(claimant) {
      await end(claimant, claimant.requestId, 'spent')
    },
  }
}

/** The part of their bytes that accounts may keep in a store that is so full, where it takes nothing more beyond `fullShare`. */
export function roomFor(memoryShare: number, fullShare: number): number {
  return Math.max(0, 1 - memoryShare / (fullShare * ANSWERS_SHARE))
}

/** Names of one account share a slot. A key is whatever a client sends, so only its digest enters a name. */
function namesOf({ accountId, idempotencyKey }: Claimant) {
  const digest = sha256Hex(idempotencyKey)
  const prefix = `idempotency:{${accountId}}:`
  const claimOf = (one: string) => `${prefix}claim:${one}`
  return {
    ...{ digest, claimOf },
    claim: claimOf(digest),
    claims: `${prefix}claims`,
    answers: `${prefix}answers`,
    bytes: `${prefix}bytes`,
  }
}

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

function textsOf(reply: unknown): string[] {
  assert(Array.isArray(reply), 'a script answers with a list')
  return reply.map(String)
}

async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new GatewayError('overloaded', 'Idempotency keys cannot be looked up at the moment. Try again.', {
      code: 'idempotency_unavailable',
      retryAfterSeconds: 1,
      cause,
    })
  }
}
