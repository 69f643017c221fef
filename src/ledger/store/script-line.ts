import type { Redis } from 'ioredis'
import type { Script } from '@/ledger/scripts/scripts'
import type { SentListener, StoreCallListener } from '@/ledger/store-calls'
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import { keyPrefixOf } from './connection'

export interface ScriptLine {
  /** Runs the script by its digest, or as `again` specifies. The listener handles a failure. */
  send(script: Script, names: readonly string[], args: Words, sent?: SentListener, again?: Again): Promise<unknown>
}

/** The arguments of a script after its names. */
export type Words = readonly (string | number)[]

/** A repeated call: the time of the first attempt, and whether to send the script's text. */
type Again = { startedMs: number; withText: boolean }

type LineListener = {
  onCall?: StoreCallListener | undefined
  /** Called after an error of Redis, or a timeout. Its result replaces the answer. */
  failed(call: ScriptCall, error: unknown): Promise<unknown>
}

export type ScriptCall = Pick<ScriptCommand, 'script' | 'names' | 'values' | 'startedMs'>

type Command = Parameters<Redis['sendCommand']>[0]

const NO_ARGUMENTS: string[] = []
const NOT_OPEN = "the connection isn't writeable"

/**
 * Creates a line: a direct way to run scripts on one connection of ioredis, which parses the replies. Scripts of one tick are written
 * together, without ioredis' promises, timers and copies. A command waits for its answer for `timeoutMs` at most. It is sent once, or never
 * if the connection is not open. `prefix` is added to all names.
 */
export function createScriptLine(
  redis: Redis,
  timeoutMs: number,
  listener: LineListener,
  prefix = keyPrefixOf(redis),
): ScriptLine {
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
    // Commands fail at once, since a cluster node would queue them for a later connection.
    if (redis.status !== 'ready') {
      for (const command of commands) command.reject(new Error(NOT_OPEN))
      return
    }
    for (const command of commands) redis.sendCommand(command as unknown as Command, sink)
    if (text === '') return
    redis.stream.write(text)
    text = ''
    for (const { sent } of commands) sent?.onSent()
  }

  return {
    send(script, names, args, sent, again) {
      const command = new ScriptCommand(listener, prefix, timeoutMs, script, names, args, sent, again)
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
  readonly startedMs: number
  readonly args = NO_ARGUMENTS
  readonly isTraced = true
  /** Replies are decoded as text while they are read. */
  readonly replyEncoding = 'utf8'
  dueAtMs: number
  private readonly reply = Promise.withResolvers<unknown>()
  private isOver = false

  constructor(
    private readonly listener: LineListener,
    private readonly prefix: string,
    timeoutMs: number,
    readonly script: Script,
    readonly names: readonly string[],
    readonly values: Words,
    readonly sent: SentListener | undefined,
    private readonly again: Again | undefined,
  ) {
    this.dueAtMs = dueIn(timeoutMs)
    this.startedMs = again?.startedMs ?? performance.now()
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

  /** Ends the command. Returns false if it has already ended: later events are ignored. */
  private end(): boolean {
    unwatch(this)
    const isFirst = !this.isOver
    this.isOver = true
    return isFirst
  }

  setReplyContext(): void {
    // Replies are always text, whatever the client's setting.
  }

  setTimeout(): void {}

  toWritable(): string {
    const { script, names, values } = this
    const head = this.again?.withText ? textHead(script) : `$7\r\nEVALSHA\r\n$${script.sha.length}\r\n${script.sha}\r\n`
    return wordsOf(head, this.prefix, names, values)
  }
}

function textHead({ text }: Script): string {
  return `$4\r\nEVAL\r\n$${Buffer.byteLength(text)}\r\n${text}\r\n`
}

/** A command with its `head` in the Redis protocol: the number of arguments, then each with its length in bytes. Names are ASCII. */
function wordsOf(head: string, prefix: string, names: readonly string[], args: Words): string {
  const count = String(names.length)
  let words = `*${3 + names.length + args.length}\r\n${head}$${count.length}\r\n${count}\r\n`
  for (const name of names) words += `$${prefix.length + name.length}\r\n${prefix}${name}\r\n`
  for (const arg of args)
    words += `$${typeof arg === 'number' ? String(arg).length : Buffer.byteLength(arg)}\r\n${arg}\r\n`
  return words
}

/** Converts strings that arrive as bytes, as from an ioredis without our patch. */
function textOf(reply: unknown): unknown {
  if (reply instanceof Buffer) return reply.toString()
  return Array.isArray(reply) ? reply.map(textOf) : reply
}
