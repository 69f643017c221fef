/**
 * Sends the ledger's scripts by their digest, and with the text if Redis doesn't know them. A script is sent only on a verified
 * connection, or on the caller's. No client repeats it by itself, since every retry verifies the connection again.
 */
import { Cluster, Command, type Redis } from 'ioredis'
import { GatewayError } from '@/chat/error'
import type { Script } from '@/ledger/scripts/scripts'
import type { GuardedOperation, SentListener, StoreCallListener } from '@/ledger/store-calls'
import { AssertionError } from '@/lib/assert'
import { withDeadline } from '@/lib/deadline'
import { nodeOf, refreshOwners } from './cluster-nodes'
import { FORBIDDEN, keyPrefixOf, type RedisClient, tellIfForbidden, waitForRedis } from './connection'
import { shardIn } from './names'
import { createScriptLine, type ScriptCall, type ScriptLine, type Words } from './script-line'

export interface ScriptRunner {
  /**
   * Runs `script` and returns its reply. Throws a GatewayError of kind `overloaded` if Redis doesn't answer or can't work now; then the
   * script may or may not have run. Throws Redis' own error if the script refused its arguments, which is a bug of ours.
   */
  run(script: Script, names: readonly string[], args: Words, sent?: SentListener): Promise<unknown>
  /** Runs `script` once on this connection, verified or not. Throws Redis' own errors: call it in `guard`. */
  runOn(connection: Redis, script: Script, names: readonly string[], args: Words): Promise<unknown>
  /** Runs `work`, which may be repeated, and handles its errors like `run`. A named operation is reported to the listener. */
  guard<T>(work: () => Promise<T>, operation?: GuardedOperation): Promise<T>
}

/** The part of the epoch guard that knows each shard's verified connection. */
type Verifier = { verified(shard: number): Redis | undefined; ensure(shard: number): Promise<Redis> }

const RETRY_AFTER_SECONDS = 1
/** Unlike an unreachable server, a cluster that moves a slot is worth waiting for. */
const MOVE_PATIENCE_MS = 10_000
const MOVE_RETRY_MS = 20
/** Error texts for a moving slot: nothing was done, and a retry finds the new node. */
const MOVING = /\b(MOVED|ASK|TRYAGAIN) |^All (the )?keys in (a|the) pipeline/
/** The reply to the digest of an unknown script. */
const UNKNOWN = /^NOSCRIPT/
/** Replies that mean a bug in a script or its arguments, not an outage. */
const DEFECT = /^(LEDGER|ERR|WRONGTYPE|CROSSSLOT) /

/** Creates a runner. `timeoutMs` limits one answer; `onCall` gets every script. Without `verifier`, no connection is verified. */
export function createScriptRunner(
  redis: RedisClient,
  timeoutMs: number,
  onCall?: StoreCallListener,
  verifier?: Verifier,
): ScriptRunner {
  const loading = new Map<string, Promise<unknown>>()
  const opening = new Map<Redis, Promise<void>>()
  const lines = new WeakMap<Redis, ScriptLine>()
  const onlyLine = redis instanceof Cluster ? undefined : lineOf(redis)

  function lineOf(connection: Redis): ScriptLine {
    const known = lines.get(connection)
    if (known) return known
    const line = createScriptLine(connection, timeoutMs, { failed: recover, onCall }, keyPrefixOf(redis))
    lines.set(connection, line)
    return line
  }

  function failed(error: unknown): unknown {
    tellIfForbidden(redis, error)
    return failureOf(error)
  }

  async function guard<T>(work: () => Promise<T>): Promise<T> {
    const startedMs = performance.now()
    for (;;) {
      try {
        return await withDeadline(work(), timeoutMs, noAnswer)
      } catch (error) {
        if (!isMoving(error, startedMs)) throw failed(error)
        await moved()
      }
    }
  }

  async function moved(): Promise<void> {
    await refreshOwners(redis)
    await Bun.sleep(MOVE_RETRY_MS)
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

  /** The line for a script, if its connection is known, and verified if the script `trusts` Redis. */
  function lineNow(script: Script, names: readonly string[]): ScriptLine | undefined {
    const isTrusting = script.trusts && verifier
    if (onlyLine && !isTrusting) return onlyLine
    const shard = shardIn(names[0] ?? '')
    const verified = verifier?.verified(shard)
    if (verified) return onlyLine ?? lineOf(verified)
    const node = isTrusting ? undefined : nodeOf(redis, shard)
    return node?.status === 'ready' ? lineOf(node) : undefined
  }

  /** Waits for the script's line: until its connection is known, verified and open. */
  async function findLine(script: Script, names: readonly string[]): Promise<ScriptLine> {
    const present = lineNow(script, names)
    if (present) return present
    const shard = shardIn(names[0] ?? '')
    if (script.trusts && verifier) return lineOf(await verifier.ensure(shard))
    if (!nodeOf(redis, shard)) await refreshOwners(redis)
    const node = nodeOf(redis, shard)
    if (!node) throw new Error('no node serves the shard')
    await opened(node)
    return lineOf(node)
  }

  /** Waits until a node's connection is open. Concurrent callers share the wait. */
  function opened(node: Redis): Promise<void> {
    const earlier = opening.get(node)
    if (earlier) return earlier
    if (node.status === 'wait') node.connect().catch(() => undefined)
    const isOpen = waitForRedis(node, timeoutMs).finally(() => opening.delete(node))
    opening.set(node, isOpen)
    return isOpen
  }

  async function sendOnceFound(
    script: Script,
    names: readonly string[],
    values: Words,
    sent?: SentListener,
  ): Promise<unknown> {
    const line = await findLine(script, names).catch((error) => {
      throw failed(error)
    })
    return line.send(script, names, values, sent)
  }

  /** Repeats a call that Redis refused without running it. Throws other errors. */
  async function recover(call: ScriptCall, error: unknown): Promise<unknown> {
    const { script, names, values, startedMs } = call
    let line: ScriptLine
    let earlier: Promise<unknown> | undefined
    try {
      if (isMoving(error, startedMs)) await moved()
      else if (!matches(error, UNKNOWN)) throw error
      // After a restart, Redis knows no script, and many calls fail together: one sends the text, the others wait for it.
      else earlier = loading.get(script.sha)
      await earlier?.catch(() => undefined)
      line = await findLine(script, names)
    } catch (cause) {
      onCall?.(script.name, performance.now() - startedMs, false)
      throw failed(cause)
    }
    const withText = matches(error, UNKNOWN) && earlier === undefined
    const answer = line.send(script, names, values, undefined, { startedMs, withText })
    if (withText) {
      const isOver = () => loading.delete(script.sha)
      loading.set(script.sha, answer.then(isOver, isOver))
    }
    return answer
  }

  return {
    run(script, names, values, sent) {
      const line = lineNow(script, names)
      return line ? line.send(script, names, values, sent) : sendOnceFound(script, names, values, sent)
    },
    runOn: (connection, script, names, values) =>
      timed(script.name, performance.now(), async () => {
        const words = [names.length, ...names, ...values]
        const send = (name: 'evalsha' | 'eval', text: string) =>
          connection.sendCommand(
            new Command(name, [text, ...words], { replyEncoding: 'utf8', keyPrefix: keyPrefixOf(redis) }),
          )
        try {
          return await send('evalsha', script.sha)
        } catch (error) {
          if (!matches(error, UNKNOWN)) throw error
          return await send('eval', script.text)
        }
      }),
    guard: (work, operation) => (operation ? timed(operation, performance.now(), () => guard(work)) : guard(work)),
  }
}

/** The error for an unreachable ledger: 503, worth retrying soon. */
export function storeUnavailable(cause: unknown): GatewayError {
  return new GatewayError('overloaded', 'The service cannot accept requests at the moment. Try again.', {
    code: 'ledger_unavailable',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
}

/** Our own bugs keep their error; all others mean an outage of Redis. */
function failureOf(error: unknown): unknown {
  const isOurs = error instanceof GatewayError || error instanceof AssertionError
  const isDefect = matches(error, DEFECT) && !matches(error, FORBIDDEN)
  return isOurs || isDefect ? error : storeUnavailable(error)
}

/** Whether the script did not run because the slot is moving to another node, so that a retry makes sense. */
function isMoving(error: unknown, startedMs: number): boolean {
  return matches(error, MOVING) && performance.now() < startedMs + MOVE_PATIENCE_MS
}

function noAnswer(): never {
  throw new Error('no answer in time')
}

function matches(error: unknown, pattern: RegExp): boolean {
  return error instanceof Error && pattern.test(error.message)
}
