import { GatewayError } from '@/chat/error'
import { DatabaseTimeoutError, withDatabaseDeadline } from '@/db/deadline'

const QUERY_CANCELED = '57014'
const TIMEOUT_MS = 10_000
const RETRY_SECONDS = 2

/** Waits for database reads that a person requested. Throws a GatewayError: `timeout` if it takes too long, `overloaded` if unreachable. */
export async function readHistory<T>(work: Promise<T>): Promise<T> {
  try {
    return await withDatabaseDeadline(work, TIMEOUT_MS)
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    if (cause instanceof DatabaseTimeoutError || codeOf(cause) === QUERY_CANCELED) {
      throw new GatewayError('timeout', 'Looking this up took too long. Try again with a shorter time.', { cause })
    }
    if (codeOf(cause) === undefined) throw cause
    throw new GatewayError('overloaded', 'The usage history is not available at the moment. Try again.', {
      retryAfterSeconds: RETRY_SECONDS,
      cause,
    })
  }
}

function codeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return codeOf(error.cause)
}
