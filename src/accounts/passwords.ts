/** Password hashes: argon2id, off the event loop, and only so many at once that a flood of logins cannot take the memory. */
import { GatewayError } from '@/chat/error'

export const PASSWORD_MIN_CHARS = 8
/** Nothing is cut off: a longer password is refused. */
export const PASSWORD_MAX_CHARS = 256

/** 19 MiB and two passes, OWASP's recommendation of 2024; the hash carries its parameters, so they may grow. */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Hashes computed at once by a process: 19 MiB and a core each. */
const MAX_RUNNING = 4
/** Those that wait for their turn; whoever comes then is told to come again. */
const MAX_WAITING = 200
const RETRY_AFTER_SECONDS = 2

const waiting: (() => void)[] = []
let running = 0

/** The hash of `password`, of any length. Throws a {@link GatewayError} of kind `overloaded` where too many are waiting. */
export async function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(normalise(password), ARGON2ID))
}

/** Whether `hash` is that of `password`. Throws as {@link hashPassword} does. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(() => Bun.password.verify(normalise(password), hash))
}

/** Keyboards differ in how they compose the same letter. */
function normalise(password: string): string {
  return password.normalize('NFKC')
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_RUNNING) {
    if (waiting.length >= MAX_WAITING) {
      throw new GatewayError('overloaded', 'Too many people are signing in at the moment. Please try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    }
    // Whoever finishes hands its place over, so that nobody who comes meanwhile can take it.
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else {
    running += 1
  }
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}
