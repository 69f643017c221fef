/** Password hashes: argon2id, off the event loop, and only so many at once that a flood of logins cannot take the memory. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { GatewayError } from '@/chat/error'
import { SHARED } from '@/limits/shared-resources'

export const PASSWORD_MIN_CHARS = 8
/** Nothing is cut off: a longer password is refused. */
export const PASSWORD_MAX_CHARS = 256

/** 19 MiB and two passes, OWASP's recommendation of 2024; the hash carries its parameters, so they may grow. */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Hashes computed at once by a process, 19 MiB and a core each; strangers leave one to people who have signed in before. */
const MAX_RUNNING = 4
const MAX_STRANGERS_RUNNING = SHARED.hashing.perProcess
/** How many wait in each of the two lines; more are refused with `retry-after`. */
const MAX_WAITING = 200
const RETRY_AFTER_SECONDS = 2

type Line = { readonly maxRunning: number; running: number; readonly waiting: (() => void)[] }

const known: Line = { maxRunning: MAX_RUNNING, running: 0, waiting: [] }
const strangers: Line = { maxRunning: MAX_STRANGERS_RUNNING, running: 0, waiting: [] }
/** Reaches the hashing through a library that passes nothing on. */
const lineOf = new AsyncLocalStorage<Line>()

/** Hashes of `work` wait in the queue of known people, which goes first and which strangers cannot fill. */
export function inOwnLine<T>(work: () => Promise<T>): Promise<T> {
  return lineOf.run(known, work)
}

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
  const line = lineOf.getStore() ?? strangers
  if (hasRoom(line)) line.running += 1
  else {
    if (line.waiting.length >= MAX_WAITING) {
      throw new GatewayError('overloaded', 'Too many people are signing in at the moment. Please try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    }
    // A finished hash hands its place over, so that no newcomer can take it.
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
