/** Sends scripts to the store: by their digest, with the text only where the store does not know them, and never for long. */
import { Command } from 'ioredis'
import { GatewayError } from '@/chat/error'
import type { RedisClient } from './connection'
import type { Script } from './scripts'

export interface ScriptRunner {
  /**
   * Runs `script` and returns its reply. Throws a GatewayError of kind `overloaded` where the store does not answer, or
   * answers that it cannot work now; then the script may or may not have run. Throws the store's own error where the
   * script refused its arguments, which is a bug of ours.
   */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** The same rules for a plain command. */
  guard<T>(work: Promise<T>): Promise<T>
}

const RETRY_AFTER_SECONDS = 1
/** Replies of a cluster that is moving a slot: the command did not run, and another try finds its place. */
const REDIRECTED = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /
/** Replies that mean a defect in a script or its arguments, not a store in trouble. */
const DEFECT = /^(LEDGER|ERR|WRONGTYPE|CROSSSLOT) /

/** Creates a runner. `timeoutMs` bounds one call, everything included. */
export function createScriptRunner(redis: RedisClient, timeoutMs: number): ScriptRunner {
  const loading = new Map<string, Promise<unknown>>()

  async function evaluate(script: Script, rest: (string | number)[]): Promise<unknown> {
    try {
      return await redis.evalsha(script.sha, ...(rest as [number, ...string[]]))
    } catch (error) {
      if (isMissingScript(error)) return await load(script, rest)
      if (redis.isCluster && error instanceof Error && REDIRECTED.test(error.message))
        return await redirect(script, rest)
      throw error
    }
  }

  /** After a restart, every call in flight misses the script at once: one of them brings the text, the others wait for it. */
  async function load(script: Script, rest: (string | number)[]): Promise<unknown> {
    const earlier = loading.get(script.sha)
    if (earlier === undefined) {
      const first = redis.eval(script.text, ...(rest as [number, ...string[]]))
      loading.set(script.sha, first)
      return await first.finally(() => loading.delete(script.sha))
    }
    await earlier.catch(() => undefined)
    try {
      return await redis.evalsha(script.sha, ...(rest as [number, ...string[]]))
    } catch (error) {
      if (!isMissingScript(error)) throw error
      return await redis.eval(script.text, ...(rest as [number, ...string[]]))
    }
  }

  /** Auto-pipelines don't follow redirections where only some of their commands were redirected; a single command does. */
  async function redirect(script: Script, rest: (string | number)[]): Promise<unknown> {
    return await redis.sendCommand(new Command('eval', [script.text, ...rest], { replyEncoding: 'utf8' }))
  }

  async function guard<T>(work: Promise<T>): Promise<T> {
    const deadline = Promise.withResolvers<never>()
    const timer = setTimeout(() => deadline.reject(new Error('the store did not answer in time')), timeoutMs)
    try {
      return await Promise.race([work, deadline.promise])
    } catch (error) {
      if (error instanceof GatewayError || (error instanceof Error && DEFECT.test(error.message))) throw error
      throw storeUnavailable(error)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    run: (script, keys, args) => guard(evaluate(script, [keys.length, ...keys, ...args])),
    guard,
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

function isMissingScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}
