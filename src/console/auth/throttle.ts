import { createHmac } from 'node:crypto'
import { GatewayError } from '@/chat/error'
import { runText } from '@/ledger/run-text'
import type { RedisClient } from '@/ledger/store/connection'
import script from './throttle.lua' with { type: 'text' }

export type Limit = { name: string; subject: string; max: number; seconds: number }

export interface Throttle {
  /** Counts an attempt. Throws `rate_limited` above a limit, `overloaded` if Redis is unreachable. */
  attempt(...limits: Limit[]): Promise<void>
  /** Subtracts one attempt, because it was successful. */
  giveBack(...limits: Limit[]): Promise<void>
  forgive(...limits: Limit[]): Promise<void>
  remember(name: string, subject: string, seconds: number): Promise<void>
  isRemembered(name: string, subject: string): Promise<boolean>
  /** Marks a single-use subject as used: false if it was used in the last `seconds`. */
  takeOnce(name: string, subject: string, seconds: number): Promise<boolean>
}

const RETRY_AFTER_SECONDS = 2
/** Passed to the script instead of a count's lifetime, to subtract one attempt. */
const TAKE_BACK = 0

/** Counts attempts in the shared Redis. Its keys are hashes with `secret`: they reveal no address, and services share no counts. */
export function createThrottle(redis: RedisClient, secret: () => Promise<string>): Throttle {
  async function keyOf({ name, subject }: Pick<Limit, 'name' | 'subject'>): Promise<string> {
    const digest = createHmac('sha256', await secret())
      .update(subject)
      .digest('base64url')
    return `sign-in:${name}:${digest}`
  }
  return {
    async attempt(...limits) {
      for (const limit of limits) {
        const [count, secondsLeft] = await asked(countAttempt(redis, await keyOf(limit), limit.seconds))
        if (count > limit.max) throw tooMany(secondsLeft)
      }
    },
    async giveBack(...limits) {
      for (const limit of limits) {
        await countAttempt(redis, await keyOf(limit), TAKE_BACK).catch(() => undefined)
      }
    },
    async forgive(...limits) {
      for (const limit of limits) await redis.del(await keyOf(limit)).catch(() => undefined)
    },
    async remember(name, subject, seconds) {
      await redis.set(await keyOf({ name, subject }), '1', 'EX', seconds).catch(() => undefined)
    },
    async isRemembered(name, subject) {
      const found = await redis.exists(await keyOf({ name, subject })).catch(() => 0)
      return found === 1
    },
    async takeOnce(name, subject, seconds) {
      return (await asked(redis.set(await keyOf({ name, subject }), '1', 'EX', seconds, 'NX'))) === 'OK'
    },
  }
}

async function countAttempt(
  redis: RedisClient,
  key: string,
  seconds: number,
): Promise<[count: number, secondsLeft: number]> {
  return (await runText(redis, script, [key], [seconds])) as [number, number]
}

async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new GatewayError('overloaded', 'This is not possible at the moment. Please try again.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause,
    })
  }
}

function tooMany(secondsLeft: number): GatewayError {
  const minutes = Math.max(1, Math.ceil(secondsLeft / 60))
  return new GatewayError(
    'rate_limited',
    `Too many attempts. Try again in ${minutes} minute${minutes > 1 ? 's' : ''}.`,
    {
      code: 'too_many_attempts',
      retryAfterSeconds: Math.max(1, secondsLeft),
    },
  )
}
