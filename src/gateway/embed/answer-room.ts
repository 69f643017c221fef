/** Limits the memory that holds vectors until they are sent: the answer to thousands of short texts has many megabytes. */
import type { EmbeddingRequest } from '@/chat/embedding'
import { GatewayError } from '@/chat/error'
import { MAX_ANSWER_BYTES } from '@/gateway/attempt/read-complete'
import { createBudget, type Lease } from '@/lib/quota/budget'
import type { Soon } from '@/lib/wait/soon'
import { SHARED } from '@/limits/shared-resources'

/** An answer's share of memory; undefined if it is too small to count. */
export type Room = Pick<Lease, 'release'> | undefined
/** Reserves memory for the vectors of a request. Throws `overloaded` if none is free in time. */
export type AnswerRoom = (accountId: string, request: Asked) => Soon<Room>
type Asked = Pick<EmbeddingRequest, 'dimensions' | 'inputs'>

/** The number of dimensions of most models' vectors. */
const USUAL_DIMENSIONS = 1_536
/** Memory per number, in base64 or parsed. Decimal text takes three times as much, but is only written in pieces or for few vectors. */
const BYTES_PER_NUMBER = 8
/** Answers below this size are not counted: the process has enough memory for all of them. */
const SMALL_BYTES = 256 * 1024
/** The longest wait for memory. It is long, because no provider was called yet, and senders of such batches can wait. */
const WAIT_MS = 20_000
const RETRY_AFTER_SECONDS = 2
const MAX_WAITING = 1_000
const MAX_WAITING_EACH = 200

export function createAnswerRoom(waitMs = WAIT_MS): AnswerRoom {
  const { perAccount, perProcess } = SHARED.vectors
  const budget = createBudget({
    perSubject: perAccount,
    total: perProcess,
    waitMs,
    maxWaiting: MAX_WAITING,
    maxWaitingEach: MAX_WAITING_EACH,
  })
  return (accountId, request) => {
    const bytes = expectedBytes(request)
    if (bytes <= SMALL_BYTES) return undefined
    const taken = budget.take(accountId, bytes)
    return taken instanceof Promise ? taken.then(orBusy) : orBusy(taken)
  }
}

function orBusy(lease: Lease | undefined): Lease {
  if (lease) return lease
  throw new GatewayError('overloaded', 'Too many long lists of vectors are under way. Try again.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

/** The likely size of the vectors, at most the size limit of an answer. */
function expectedBytes({ inputs, dimensions = USUAL_DIMENSIONS }: Asked): number {
  return Math.min(inputs.length * dimensions * BYTES_PER_NUMBER, MAX_ANSWER_BYTES)
}
