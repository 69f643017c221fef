/** Sends the ledger's scripts by their digest, with the text only where the store does not know them. */
import { Cluster, Command } from 'ioredis'
import { GatewayError } from '@/chat/error'
import type { Script } from '@/ledger/scripts/scripts'
import type { GuardedOperation, StoreCallListener } from '@/ledger/store-calls'
import { AssertionError } from '@/lib/assert'
import { withDeadline } from '@/lib/deadline'
import { FORBIDDEN, keyPrefixOf, type RedisClient, tellIfForbidden } from './connection'
import { createScriptLine, type ScriptCall } from './script-line'

export interface ScriptRunner {
  /**
   * Runs `script` and returns its reply. Throws a GatewayError of kind `overloaded` where the store does not answer, or
   * answers that it cannot work now; then the script may or may not have run. Throws the store's own error where the
   * script refused its arguments, which is a bug of ours.
   */
  run(script: Script, names: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** The same rules for any other work that may be repeated. A named operation is reported to the listener. */
  guard<T>(work: () => Promise<T>, operation?: GuardedOperation): Promise<T>
}

const RETRY_AFTER_SECONDS = 1
/** A cluster answers while it moves a slot, so it is worth waiting for, unlike a store that is silent. */
const MOVE_PATIENCE_MS = 10_000
const MOVE_RETRY_MS = 20
/** Error texts for a slot that is moving: nothing was done, and another try finds the new node. */
const MOVING = /\b(MOVED|ASK|TRYAGAIN) |^All (the )?keys in (a|the) pipeline/
/** Replies that mean a defect in a script or its arguments, not a store in trouble. */
const DEFECT = /^(LEDGER|ERR|WRONGTYPE|CROSSSLOT) /

/** Creates a runner. `timeoutMs` bounds the wait for one answer; `onCall` is told of every script. */
export function createScriptRunner(redis: RedisClient, timeoutMs: number, onCall?: StoreCallListener): ScriptRunner {
  const loading = new Map<string, Promise<unknown>>()
  const line = redis instanceof Cluster ? undefined : createScriptLine(redis, timeoutMs, { failed: recover, onCall })

  function failed(error: unknown): unknown {
    tellIfForbidden(redis, error)
    return failureOf(error)
  }

  async function guard<T>(work: () => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + MOVE_PATIENCE_MS
    for (;;) {
      try {
        return await withDeadline(work(), timeoutMs, noAnswer)
      } catch (error) {
        if (!matches(error, MOVING) || performance.now() > giveUpAt) throw failed(error)
        await Bun.sleep(MOVE_RETRY_MS)
      }
    }
  }

  async function evaluate(script: Script, rest: readonly (string | number)[], send: Send): Promise<unknown> {
    try {
      return await send('evalsha', script.sha, rest)
    } catch (error) {
      if (!matches(error, /^NOSCRIPT/)) throw error
    }
    // After a restart, every call in flight misses the script at once: one brings the text, the others wait for it.
    const earlier = loading.get(script.sha)
    if (earlier === undefined) {
      const first = send('eval', script.text, rest).finally(() => loading.delete(script.sha))
      loading.set(script.sha, first)
      return await first
    }
    await earlier.catch(() => undefined)
    try {
      return await send('evalsha', script.sha, rest)
    } catch (error) {
      if (!matches(error, /^NOSCRIPT/)) throw error
      return await send('eval', script.text, rest)
    }
  }

  /** The long way, by ioredis' own means. */
  function evaluateGuarded(script: Script, names: readonly string[], values: ScriptCall['values']): Promise<unknown> {
    const rest = [names.length, ...names, ...values]
    let send = pipelined(redis)
    return guard(() => {
      const attempt = evaluate(script, rest, send)
      send = alone(redis)
      return attempt
    })
  }

  async function timed<T>(operation: string, startedMs: number, work: () => Promise<T>): Promise<T> {
    let isAnswered = false
    try {
      const reply = await work()
      isAnswered = true
      return reply
    } finally {
      onCall?.(operation, performance.now() - startedMs, isAnswered)
    }
  }

  /** Sends the text of a script that the store does not know. Other errors are thrown. */
  function recover({ script, names, values, startedMs }: ScriptCall, error: unknown): Promise<unknown> {
    return timed(script.name, startedMs, () => {
      if (!matches(error, /^NOSCRIPT/)) throw failed(error)
      return evaluateGuarded(script, names, values)
    })
  }

  return {
    run(script, names, values) {
      if (line) return line.send(script, names, values)
      return timed(script.name, performance.now(), () => evaluateGuarded(script, names, values))
    },
    guard: (work, operation) => (operation ? timed(operation, performance.now(), () => guard(work)) : guard(work)),
  }
}

/** The error that ends a request because the ledger cannot be reached: 503, and soon worth another try. */
export function storeUnavailable(cause: unknown): GatewayError {
  return new GatewayError('overloaded', 'The service is temporarily unable to take requests. Try again.', {
    code: 'ledger_unavailable',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
}

/** Our own bugs keep their error; all others mean that the store is in trouble. */
function failureOf(error: unknown): unknown {
  const isOurs = error instanceof GatewayError || error instanceof AssertionError
  const isDefect = matches(error, DEFECT) && !matches(error, FORBIDDEN)
  return isOurs || isDefect ? error : storeUnavailable(error)
}

/** Sends EVALSHA with a digest, or EVAL with a text, and what follows it. */
type Send = (name: 'evalsha' | 'eval', script: string, rest: readonly (string | number)[]) => Promise<unknown>

/** Together with whatever else is sent in this turn of the event loop. */
function pipelined(redis: RedisClient): Send {
  return (name, script, rest) => redis[name](script, ...(rest as [number, ...string[]]))
}

/** Runs one command alone: a cluster client follows a redirection for a single command, but not for half a pipeline. */
function alone(redis: RedisClient): Send {
  return async (name, script, rest) =>
    redis.sendCommand(new Command(name, [script, ...rest], { replyEncoding: 'utf8', keyPrefix: keyPrefixOf(redis) }))
}

function noAnswer(): never {
  throw new Error('no answer in time')
}

function matches(error: unknown, pattern: RegExp): boolean {
  return error instanceof Error && pattern.test(error.message)
}
