/** Idempotency keys and stored answers, in the shared Redis: an account's in one slot, limited in time and size, keys as digests. */
import { GatewayError } from '@/chat/error'
import type { Payer } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { sha256Hex } from '@/lib/ids'
import { SHARED } from '@/limits/shared-resources'
import claimText from './claim.lua' with { type: 'text' }
import dropText from './drop.lua' with { type: 'text' }
import endText from './end.lua' with { type: 'text' }
import keepText from './keep.lua' with { type: 'text' }
import knownText from './known.lua' with { type: 'text' }
import { ALL_ROOM, LEAST_ACCOUNT_BYTES, type Room } from './room'
import surplusText from './surplus.lua' with { type: 'text' }
import weighText from './weigh.lua' with { type: 'text' }

/** A request that claims its key. `fingerprint` identifies its content. */
export type Claimant = Payer & { idempotencyKey: string; fingerprint: string; requestId: string }

export type KeptAnswer = { status: number; headers: [string, string][]; body: string }

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

/** Runs a script on keys in one slot of Redis. */
export type RunScript = (text: string, names: readonly string[], args: readonly (string | number)[]) => Promise<unknown>

/** How long a key is remembered, with its answer. */
export const KEEP_MS = 24 * 60 * 60 * 1000
/** Longer answers are not stored. */
export const MAX_ANSWER_BYTES = 1024 * 1024
/** Maximum attempts to free space for one answer, or in one account for others. Each drops up to a hundred answers. */
const MAX_DROPS = 20
/** Redis key of all accounts, sorted by the bytes they store. */
const ACCOUNTS_NAME = 'idempotency:{accounts}:kept'

type ClaimsOptions = {
  run: RunScript
  limits?: { claims: number; accountBytes: number }
  room?: Room
}

const LIMITS = { claims: SHARED.idempotencyKeys.perAccount, accountBytes: SHARED.keptAnswers.perAccount }

/** Creates the claims over a store. */
export function createClaims({ run, limits = LIMITS, room = ALL_ROOM }: ClaimsOptions): Claims {
  let isTrimming = false
  /** Bytes stored per account that were not recorded yet. */
  const unnoted = new Map<string, number>()

  async function end(claimant: Claimant, requestId: string, ...how: string[]): Promise<boolean> {
    const { claim, claims } = namesOf(claimant.accountId)
    const digest = digestOf(claimant)
    return (await asked(run(endText, [claim(digest), claims], [digest, requestId, ...how]))) === 1
  }

  /** Drops an account's oldest answers until it stores at most `most` bytes. Resolves to the bytes it stores then. */
  async function dropOldest(accountId: string, most: number): Promise<number> {
    const { answers, bytes, claim } = namesOf(accountId)
    let total = 0
    for (let drops = 0; drops < MAX_DROPS; drops++) {
      const [kept, ...oldest] = textsOf(await asked(run(surplusText, [answers, bytes], [most])))
      total = Number(kept)
      if (oldest.length === 0) return total
      await asked(run(dropText, [answers, bytes, ...oldest.map(claim)], oldest))
    }
    return total
  }

  /** Records how much an account stores. Resolves to the accounts above their limit. */
  async function weigh(accountId: string, total: number): Promise<string[]> {
    const args = [accountId, total, LEAST_ACCOUNT_BYTES, room.leftBytes(limits.accountBytes), KEEP_MS]
    return textsOf(await asked(run(weighText, [ACCOUNTS_NAME], args)))
  }

  /** Makes accounts above their limit drop answers. Not awaited; one run at a time is enough. */
  function trim(accountId: string, kept: number): void {
    unnoted.set(accountId, kept)
    if (isTrimming) return
    isTrimming = true
    // The next stored answer tries again.
    trimNoted().catch(() => undefined)
  }

  /** Trims all noted accounts, including ones noted meanwhile: of an account's concurrent answers only the first would count otherwise. */
  async function trimNoted(): Promise<void> {
    try {
      for (const [accountId, kept] of unnoted) {
        unnoted.delete(accountId)
        const heavy = await weigh(accountId, kept)
        for (const one of heavy) await weigh(one, await dropOldest(one, room.leftBytes(limits.accountBytes)))
      }
    } finally {
      isTrimming = false
    }
  }

  return {
    async claim(claimant) {
      const { fingerprint, requestId, keyId } = claimant
      const { claim, claims } = namesOf(claimant.accountId)
      const digest = digestOf(claimant)
      const args = [digest, fingerprint, requestId, keyId, KEEP_MS, room.claims(limits.claims)]
      const reply = asked(run(claimText, [claim(digest), claims], args))
      // The claim may have succeeded although its reply was lost.
      reply.catch(() => end(claimant, requestId, 'free').catch(() => undefined))
      return outcomeOf(await reply)
    },
    async isKnown(claimant) {
      const { claim } = namesOf(claimant.accountId)
      return (await asked(run(knownText, [claim(digestOf(claimant))], []))) === 1
    },
    takeOver: (claimant, from) => end(claimant, from, 'taken', claimant.requestId, claimant.keyId),
    async keep(claimant, { status, headers, body }) {
      const { accountId, requestId } = claimant
      const { claim, answers, bytes } = namesOf(accountId)
      const digest = digestOf(claimant)
      const head = JSON.stringify({ status, headers })
      const size = head.length + Buffer.byteLength(body)
      const most = room.answerBytes(limits.accountBytes)
      if (size > most) {
        if (size <= limits.accountBytes) trim('', 0)
        return false
      }
      room.taking(size)
      const put = async () =>
        textsOf(
          await asked(run(keepText, [claim(digest), answers, bytes], [digest, requestId, head, body, size, most])),
        )
      let [kind, total = ''] = await put()
      if (kind === 'full') {
        await dropOldest(accountId, most - size)
        ;[kind, total = ''] = await put()
      }
      if (kind !== 'kept') return false
      if (Number(total) >= LEAST_ACCOUNT_BYTES) trim(accountId, Number(total))
      return true
    },
    async free(claimant) {
      await end(claimant, claimant.requestId, 'free')
    },
    async spend(claimant) {
      await end(claimant, claimant.requestId, 'spent')
    },
  }
}

function namesOf(accountId: string) {
  const prefix = `idempotency:{${accountId}}:`
  return {
    claim: (digest: string) => `${prefix}claim:${digest}`,
    claims: `${prefix}claims`,
    answers: `${prefix}answers`,
    bytes: `${prefix}bytes`,
  }
}

/** A key is an arbitrary text from a client, so only its digest is used in names. */
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

function textsOf(reply: unknown): string[] {
  assert(Array.isArray(reply), 'a script answers with a list')
  return reply.map(String)
}

async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw claimsUnavailable(cause)
  }
}

/** The error while keys cannot be claimed. */
export function claimsUnavailable(cause?: unknown): GatewayError {
  return new GatewayError('overloaded', 'Idempotency keys cannot be looked up at the moment. Try again.', {
    code: 'idempotency_unavailable',
    retryAfterSeconds: 1,
    cause,
  })
}
