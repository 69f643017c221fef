/** Password hashes: argon2id, off the event loop. Few run at once, so that a flood of logins cannot use up the memory. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { GatewayError } from '@/chat/error'
import { SHARED } from '@/limits/shared-resources'

export const PASSWORD_MIN_CHARS = 8
/** A longer password is refused, not cut. */
export const PASSWORD_MAX_CHARS = 256

/** 19 MiB and two passes, as OWASP recommended in 2024. The hash contains its parameters, so they can be raised later. */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Concurrent hashes per process; each takes 19 MiB and a core. Unknown people get fewer, so that a slot stays free for known people. */
const MAX_RUNNING = 4
const MAX_STRANGERS_RUNNING = SHARED.hashing.perProcess
/** The length of each of the two queues. Further hashes are refused with `retry-after`. */
const MAX_WAITING = 200
const RETRY_AFTER_SECONDS = 2

type Line = { readonly maxRunning: number; running: number; readonly waiting: (() => void)[] }

const known: Line = { maxRunning: MAX_RUNNING, running: 0, waiting: [] }
const strangers: Line = { maxRunning: MAX_STRANGERS_RUNNING, running: 0, waiting: [] }
/** The queue for hashes of the current call. The sign-in library between caller and hash passes no parameters on. */
const lineOf = new AsyncLocalStorage<Line>()

/** Hashes inside `work` use the queue of known people. It has priority, and unknown people cannot fill it. */
export function inOwnLine<T>(work: () => Promise<T>): Promise<T> {
  return lineOf.run(known, work)
}

/** The hash of `password`, of any length. Throws a {@link GatewayError} of kind `overloaded` if the queue is full. */
export async function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(normalise(password), ARGON2ID))
}

/** Whether `hash` belongs to `password`. Throws as {@link hashPassword} does. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(() => Bun.password.verify(normalise(password), hash))
}

/** Normalises the password's Unicode form, since keyboards encode the same letter differently. */
function normalise(password: string): string {
  return password.normalize('NFKC')
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const line = lineOf.getStore() ?? strangers
  if (hasRoom(line)) line.running += 1
  else {
    if (line.waiting.length >= MAX_WAITING) {
      throw new GatewayError('overloaded', 'Too many people are signing in at the moment. Please try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    }
    // A finished hash gives its slot directly to a waiting one, so that no newcomer can take it.
    await new Promise<void>((resolve) => line.waiting.push(resolve))
  }
  try {
    return await work()
  } finally {
    line.running -= 1
    admitNext()
  }
}

function hasRoom({ running, maxRunning }: Line): boolean {
  return running < maxRunning && known.running + strangers.running < MAX_RUNNING
}

function admitNext(): void {
  const line = [known, strangers].find((each) => each.waiting.length > 0 && hasRoom(each))
  if (!line) return
  line.running += 1
  line.waiting.shift()?.()
}
