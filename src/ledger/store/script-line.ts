/**
 * A direct way to run a script on one server. ioredis keeps the connection and parses replies. Scripts of one turn of the event
 * loop are written together, without ioredis' promises, timers and copies.
 */
import type { Redis } from 'ioredis'
import type { Script } from '@/ledger/scripts/scripts'
import type { StoreCallListener } from '@/ledger/store-calls'
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import { keyPrefixOf } from './connection'

interface ScriptLine {
  /** Runs the script by its digest. The listener handles a failure. */
  send(script: Script, names: readonly string[], args: readonly (string | number)[]): Promise<unknown>
}

type LineListener = {
  onCall?: StoreCallListener | undefined
  /** The store's own error, or a timeout. The returned value replaces the answer. */
  failed(call: ScriptCall, error: unknown): Promise<unknown>
}

/** One call of a script. */
export type ScriptCall = Pick<ScriptCommand, 'script' | 'names' | 'values' | 'startedMs'>

type Command = Parameters<Redis['sendCommand']>[0]

const NO_ARGUMENTS: string[] = []

/** Creates the line of one client. A command waits for its answer for `timeoutMs` at most. */
export function createScriptLine(redis: Redis, timeoutMs: number, listener: LineListener): ScriptLine {
  const prefix = keyPrefixOf(redis)
  let queue: ScriptCommand[] = []
  let text = ''
  const sink = {
    isPipeline: true as const,
    destination: { redis },
    write(command: string) {
      text += command
    },
  }

  function flush(): void {
    const commands = queue
    queue = []
    for (const command of commands) redis.sendCommand(command as unknown as Command, sink)
    if (text !== '') redis.stream.write(text)
    text = ''
  }

  return {
    send(script, names, args) {
      const command = new ScriptCommand(listener, prefix, timeoutMs, script, names, args)
      if (queue.length === 0) setImmediate(flush)
      queue.push(command)
      watch(command)
      return command.promise
    },
  }
}

/** The parts of a command that ioredis needs to write it and to deliver its reply. */
class ScriptCommand implements Timed {
  readonly name = 'evalsha'
  readonly args = NO_ARGUMENTS
  readonly isTraced = true
  /** Replies are decoded as text while they are read. */
  readonly replyEncoding = 'utf8'
  readonly startedMs = performance.now()
  dueAtMs: number
  private readonly reply = Promise.withResolvers<unknown>()
  private isOver = false

  constructor(
    private readonly listener: LineListener,
    private readonly prefix: string,
    timeoutMs: number,
    readonly script: Script,
    readonly names: readonly string[],
    readonly values: readonly (string | number)[],
  ) {
    this.dueAtMs = dueIn(timeoutMs)
  }

  get promise(): Promise<unknown> {
    return this.reply.promise
  }

  resolve(reply: unknown): void {
    if (!this.end()) return
    this.listener.onCall?.(this.script.name, performance.now() - this.startedMs, true)
    this.reply.resolve(textOf(reply))
  }

  reject(error: Error): void {
    if (this.end()) this.listener.failed(this, error).then(this.reply.resolve, this.reply.reject)
  }

  onDue(): void {
    this.reject(new Error('no answer in time'))
  }

  /** False if it has ended already: later events are ignored. */
  private end(): boolean {
    unwatch(this)
    const isFirst = !this.isOver
    this.isOver = true
    return isFirst
  }

  setReplyContext(): void {
    // Replies are text, whatever the client is set to.
  }

  setTimeout(): void {}

  toWritable(): string {
    return wordsOf(this.script.sha, this.prefix, this.names, this.values)
  }
}

/** EVALSHA as the store reads it: the number of words, then of each its length in bytes and itself. Names are ASCII. */
function wordsOf(sha: string, prefix: string, names: readonly string[], args: readonly (string | number)[]): string {
  const count = String(names.length)
  let words = `*${3 + names.length + args.length}\r\n$7\r\nEVALSHA\r\n$${sha.length}\r\n${sha}\r\n$${count.length}\r\n${count}\r\n`
  for (const name of names) words += `$${prefix.length + name.length}\r\n${prefix}${name}\r\n`
  for (const arg of args)
    words += `$${typeof arg === 'number' ? String(arg).length : Buffer.byteLength(arg)}\r\n${arg}\r\n`
  return words
}

/** Text where strings arrive as bytes, as they do from an ioredis that lacks our patch. */
function textOf(reply: unknown): unknown {
  if (reply instanceof Buffer) return reply.toString()
  return Array.isArray(reply) ? reply.map(textOf) : reply
}
