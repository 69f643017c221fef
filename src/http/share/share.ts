/**
 * One request's shares of common resources while it is read: memory for its body and earlier answers, and a turn at the event
 * loop if it is large and unpaid. Without a free share it waits some seconds with its body unread.
 */
import { GatewayError } from '@/chat/error'
import type { BodySize } from '@/http/body'
import { LARGE_BYTES, type Unpaid } from '@/http/unpaid'
import type { Payer } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'
import { createBudget, type Lease } from '@/lib/quota/budget'
import { ownTurn } from '@/lib/wait/own-turn'
import { SHARED } from '@/limits/shared-resources'

/** One request's share; `isFree` where its answer costs nothing. */
export type OpenShare = (payer: Payer, isFree?: boolean) => Share
type Admission = Pick<Unpaid, 'admitLarge' | 'admitFree'>

/** Smaller bodies are not counted: all connections together hold no more of them than a process can bear. */
const SMALL_BYTES = 16 * 1024
const WAIT_MS = 5_000
const RETRY_AFTER_SECONDS = 2
const MAX_WAITING = 1_000
const MAX_WAITING_EACH = 200
/** What an account has lying in wait for its turn are bodies that were read. */
const MAX_TURNS_WAITING_EACH = 32
/** Parsing so many fields takes some milliseconds. */
const MANY_VALUES = 5_000

/** Creates what one process has to share. A single body fits, however large the operator lets it be. */
export function createShares(unpaid: Admission, waitMs = WAIT_MS): OpenShare {
  const room = createBudget({
    perSubject: SHARED.bodies.perAccount,
    total: SHARED.bodies.perProcess,
    waitMs,
    maxWaiting: MAX_WAITING,
    maxWaitingEach: MAX_WAITING_EACH,
  })
  const turns = createBudget({
    perSubject: SHARED.unpaidTurns.perAccount,
    total: SHARED.unpaidTurns.perProcess,
    waitMs,
    maxWaiting: MAX_WAITING,
    maxWaitingEach: MAX_TURNS_WAITING_EACH,
  })
  const paid = { room, turns, admit: unpaid.admitLarge, isFree: false }
  const free = { room, turns, admit: unpaid.admitFree, isFree: true }
  return (payer, isFree = false) => new RequestShare(payer, isFree ? free : paid)
}

type Parts = {
  room: ReturnType<typeof createBudget>
  turns: ReturnType<typeof createBudget>
  admit: Admission['admitLarge']
  isFree: boolean
}

class RequestShare {
  /** What was read and may turn out to be unpaid. */
  bytesRead = 0
  private held: Lease | undefined
  private turn: Lease | undefined
  private isOver = false

  constructor(
    private readonly payer: Payer,
    private readonly parts: Parts,
  ) {}

  /** Before a body of so many announced bytes is read. Throws `overloaded` where there is no room in time. */
  enter(announced: number): Promise<void> | undefined {
    this.bytesRead = announced
    if (announced <= SMALL_BYTES) return undefined
    return this.wait(this.parts.room.take(this.payer.accountId, announced)).then((taken) => {
      this.held = taken
    })
  }

  /** So many bytes more were read. Throws `overloaded` where there is no room for them. */
  grow(bytes: number): void {
    this.bytesRead += bytes
    if (this.held) {
      if (!this.held.grow(bytes)) throw busy()
      return
    }
    if (this.bytesRead <= SMALL_BYTES) return
    // No request waits with half a body.
    this.held = this.parts.room.takeNow(this.payer.accountId, this.bytesRead)
    if (!this.held) throw busy()
  }

  /** Before the body is parsed. A paid body may be large, but must not take long to parse. Throws likewise. */
  beforeParse({ bytes, dearValues }: BodySize): Promise<void> | undefined {
    return this.takeTurn({ bytes: this.parts.isFree ? bytes : 0, dearValues })
  }

  /** Before so much is parsed that is not paid for; once for each request, and only where it takes long. Throws likewise. */
  takeTurn({ bytes, dearValues }: BodySize): Promise<void> | undefined {
    if (this.turn || (bytes <= LARGE_BYTES && dearValues <= MANY_VALUES)) return undefined
    return this.wait(this.parts.turns.take(this.payer.accountId, 1)).then((taken) => {
      this.turn = taken
      // Otherwise the next in line would run directly after this one, without a turn for other work.
      return ownTurn()
    })
  }

  /**
   * Before a stored conversation of so many bytes is read, which costs `least`. Throws as a reserve would where the credit does not pay
   * that, and else likewise.
   */
  readStored(bytes: number, least: () => Nano): Promise<void> | undefined {
    if (bytes <= LARGE_BYTES) {
      this.grow(bytes)
      return undefined
    }
    return this.parts
      .admit(this.payer, least())
      .then(() => this.takeTurn({ bytes, dearValues: 0 }))
      .then(() => this.grow(bytes))
  }

  /** What was large is parsed. */
  endTurn(): void {
    this.turn?.release()
    this.turn = undefined
  }

  /** The answer has ended. Once is enough, and more does no harm. */
  end(): void {
    this.isOver = true
    this.turn?.release()
    this.held?.release()
  }

  private async wait(lease: ReturnType<Parts['room']['take']>): Promise<Lease> {
    const taken = await lease
    if (!taken) throw busy()
    if (this.isOver) taken.release()
    return taken
  }
}

export type Share = Pick<RequestShare, keyof RequestShare>

function busy(): GatewayError {
  return new GatewayError('overloaded', 'Too many large requests are under way. Try again.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
