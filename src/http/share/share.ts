/**
 * What one request has of what all share while it is read: memory for its body and for what it builds on, and, where that is large and
 * nobody has paid for it yet, a turn at the event loop. Whoever finds it used up waits in line for some seconds, its body unread.
 */
import { GatewayError } from '@/chat/error'
import type { BodySize } from '@/http/body'
import { LARGE_BYTES, type Unpaid } from '@/http/unpaid'
import type { Payer } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'
import { createBudget, type Lease } from '@/lib/quota/budget'
import { ownTurn } from '@/lib/wait/own-turn'
import { SHARED } from '@/limits/shared-resources'

export interface Share {
  /** Before the body is read. Throws `overloaded` where there is no room in time. */
  enter(request: Request): Promise<void> | undefined
  /** So many bytes more were read. Throws `overloaded` where there is no room for them. */
  grow(bytes: number): void
  /** Before so much is parsed that nobody has paid for; once for each request, and only where it takes long. Likewise. */
  takeTurn(size: BodySize): Promise<void> | undefined
  /**
   * Before a stored conversation of so many bytes is read, which costs `least`. Throws as a reserve would where the credit does not pay
   * that, and else likewise.
   */
  readStored(bytes: number, least: () => Nano): Promise<void> | undefined
  /** What was read that may turn out to be paid by nobody. */
  readonly bytesRead: number
  /** What was large is parsed. */
  endTurn(): void
  /** The answer has ended. Once is enough, and more does no harm. */
  end(): void
}

/** One request's share; `isFree` where it asks for an answer that nobody pays for. */
export type OpenShare = (payer: Payer, isFree?: boolean) => Share
type Admission = Pick<Unpaid, 'admitLarge' | 'admitFree'>

/** Smaller bodies are counted by nobody: so many connections as there can be hold no more of these than a process can bear. */
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
    ...{ perSubject: SHARED.bodies.perAccount, total: SHARED.bodies.perProcess, waitMs },
    ...{ maxWaiting: MAX_WAITING, maxWaitingEach: MAX_WAITING_EACH },
  })
  const turns = createBudget({
    ...{ perSubject: SHARED.unpaidTurns.perAccount, total: SHARED.unpaidTurns.perProcess, waitMs },
    ...{ maxWaiting: MAX_WAITING, maxWaitingEach: MAX_TURNS_WAITING_EACH },
  })
  return (payer, isFree = false) => {
    const admit = isFree ? unpaid.admitFree : unpaid.admitLarge
    return openShare(payer, { room, turns, admit })
  }
}

type Parts = {
  room: ReturnType<typeof createBudget>
  turns: ReturnType<typeof createBudget>
  admit: Admission['admitLarge']
}

function openShare(payer: Payer, { room, turns, admit }: Parts): Share {
  const { accountId } = payer
  let held: Lease | undefined
  let turn: Lease | undefined
  let isOver = false
  let bytesRead = 0

  async function wait(lease: ReturnType<typeof room.take>): Promise<Lease> {
    const taken = await lease
    if (!taken) throw busy()
    if (isOver) taken.release()
    return taken
  }

  function grow(bytes: number): void {
    bytesRead += bytes
    if (held) {
      if (!held.grow(bytes)) throw busy()
      return
    }
    if (bytesRead <= SMALL_BYTES) return
    // Nobody waits with half a body.
    held = room.takeNow(accountId, bytesRead)
    if (!held) throw busy()
  }

  function takeTurn({ bytes, dearValues }: BodySize): Promise<void> | undefined {
    if (turn || (bytes <= LARGE_BYTES && dearValues <= MANY_VALUES)) return undefined
    return wait(turns.take(accountId, 1)).then((taken) => {
      turn = taken
      // Else whoever waited would go on right behind the one before, with nobody else's turn between.
      return ownTurn()
    })
  }

  return {
    enter({ headers }) {
      const announced = Number(headers.get('content-length') ?? 0)
      bytesRead = announced
      if (announced <= SMALL_BYTES) return undefined
      return wait(room.take(accountId, announced)).then((taken) => {
        held = taken
      })
    },
    grow,
    takeTurn,
    readStored(bytes, least) {
      if (bytes <= LARGE_BYTES) {
        grow(bytes)
        return undefined
      }
      return admit(payer, least())
        .then(() => takeTurn({ bytes, dearValues: 0 }))
        .then(() => grow(bytes))
    },
    get bytesRead() {
      return bytesRead
    },
    endTurn() {
      turn?.release()
      turn = undefined
    },
    end() {
      isOver = true
      turn?.release()
      held?.release()
    },
  }
}

function busy(): GatewayError {
  return new GatewayError('overloaded', 'Too many large requests are under way. Try again.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
