/**
 * A request's shares of common resources while it is read: memory for its body and earlier answers, and a turn at the event loop if it is
 * large and unpaid. If no share is free, the request waits some seconds with its body unread.
 */
import { GatewayError } from '@/chat/error'
import type { BodySize } from '@/http/body'
import { LARGE_BYTES, type Unpaid } from '@/http/unpaid'
import type { Payer } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'
import { createBudget, type Lease } from '@/lib/quota/budget'
import { ownTurn } from '@/lib/wait/own-turn'
import { SHARED } from '@/limits/shared-resources'

/** Opens one request's share; `isFree` if its answer is free. */
export type OpenShare = (payer: Payer, isFree?: boolean) => Share
type Admission = Pick<Unpaid, 'admitLarge' | 'admitFree'>

/** Smaller bodies are not counted: even on all connections together, they can't fill the memory. */
const SMALL_BYTES = 16 * 1024
const WAIT_MS = 5_000
const RETRY_AFTER_SECONDS = 2
const MAX_WAITING = 1_000
const MAX_WAITING_EACH = 200
/** Maximum bodies of one account that were read and wait for their turn. */
const MAX_TURNS_WAITING_EACH = 32
/** A body with more values than this takes some milliseconds to parse. */
const MANY_VALUES = 5_000

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
  /** Bytes of the body that were read. If the request is refused, they count as unpaid. */
  bytesRead = 0
  private held: Lease | undefined
  private turn: Lease | undefined
  private isOver = false

  constructor(
    private readonly payer: Payer,
    private readonly parts: Parts,
  ) {}

  /** Called before a body of `announced` bytes is read. Throws `overloaded` if no memory is free in time. */
  enter(announced: number): Promise<void> | undefined {
    this.bytesRead = announced
    if (announced <= SMALL_BYTES) return undefined
    return this.wait(this.parts.room.take(this.payer.accountId, announced)).then((taken) => {
      this.held = taken
    })
  }

  /** Called when `bytes` more were read. Throws `overloaded` if there is no memory. */
  grow(bytes: number): void {
    this.bytesRead += bytes
    if (this.held) {
      if (!this.held.grow(bytes)) throw busy()
      return
    }
    if (this.bytesRead <= SMALL_BYTES) return
    // The body is partly read. Such a request never waits for memory: it is refused if there is none.
    this.held = this.parts.room.takeNow(this.payer.accountId, this.bytesRead)
    if (!this.held) throw busy()
  }

  /** Called before the body is parsed. The body of a paid request only waits if it is slow to parse. Throws `overloaded`. */
  beforeParse({ bytes, dearValues }: BodySize): Promise<void> | undefined {
    return this.takeTurn({ bytes: this.parts.isFree ? bytes : 0, dearValues })
  }

  /** Waits for a turn, once per request, before parsing that takes long and is not paid. Throws `overloaded`. */
  takeTurn({ bytes, dearValues }: BodySize): Promise<void> | undefined {
    if (this.turn || (bytes <= LARGE_BYTES && dearValues <= MANY_VALUES)) return undefined
    return this.wait(this.parts.turns.take(this.payer.accountId, 1)).then((taken) => {
      this.turn = taken
      // Lets other work run before this request: otherwise queued requests would run directly one after another.
      return ownTurn()
    })
  }

  /** Called before a stored conversation of `bytes` is read, which costs `least` or more. Throws like a reserve, or `overloaded`. */
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

  /** Called when the large part has been parsed. The next request gets the turn. */
  endTurn(): void {
    this.turn?.release()
    this.turn = undefined
  }

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
