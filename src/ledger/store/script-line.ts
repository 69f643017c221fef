/**
 * The short way of a script to one server. ioredis keeps the connection and takes the replies apart; what is said in one turn of the
 * event loop is written in one go, without the promises, timers and copies that its own way makes of every command.
 */
import type { Redis } from 'ioredis'
import { createSharedDeadline, type SharedWait } from '@/lib/wait/shared-deadline'
import { keyPrefixOf } from './connection'

interface ScriptLine {
  /** Runs the script with this digest. Rejects with the store's own error, or where no answer comes in time. */
  send(sha: string, names: readonly string[], args: readonly (string | number)[]): Promise<unknown>
}

type Command = Parameters<Redis['sendCommand']>[0]

/** What ioredis asks of a command that it writes and whose reply it takes. */
type ScriptCommand = Pick<Command, 'name' | 'args' | 'isTraced' | 'promise' | 'resolve' | 'reject'> & {
  /** Replies are decoded as text while they are read. */
  replyEncoding: 'utf8'
  setReplyContext(): void
  setTimeout(): void
  toWritable(): string
}

const NO_ARGUMENTS: string[] = []
const ignore = () => undefined

/** Creates the line of one client. A command waits for its answer for `timeoutMs` at most. */
export function createScriptLine(redis: Redis, timeoutMs: number): ScriptLine {
  const deadline = createSharedDeadline(timeoutMs)
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
    send(sha, names, args) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      let wait: SharedWait | undefined
      const end = () => {
        if (wait) wait.isOver = true
      }
      if (queue.length === 0) setImmediate(flush)
      queue.push({
        name: 'evalsha',
        args: NO_ARGUMENTS,
        isTraced: true,
        replyEncoding: 'utf8',
        promise,
        resolve(reply: unknown) {
          end()
          resolve(textOf(reply))
        },
        reject(error) {
          end()
          reject(error)
        },
        setReplyContext: ignore,
        setTimeout: ignore,
        toWritable: () => wordsOf(sha, prefix, names, args),
      })
      wait = deadline.begin(() => reject(new Error('no answer in time')))
      return promise
    },
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
