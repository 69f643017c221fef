/** A client library of another language in a process of its own, which does for the tests what they ask: a JSON object a line. */
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

export interface Worker {
  /** Calls a function of the process by name. What it raises comes back as an error with the whole trace. */
  call(name: string, parameters: object): Promise<unknown>
  stop(): Promise<void>
}

type Waiting = { resolve(value: unknown): void; reject(error: Error): void }

/** Starts the command; its side is `python/worker.py` or `java/Worker.java`. */
export function startWorker(command: readonly string[], environment: Record<string, string> = {}): Worker {
  const child = Bun.spawn([...command], {
    env: { ...BARE_ENVIRONMENT, ...environment },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const waiting = new Map<number, Waiting>()
  let count = 0
  void readLines(child.stdout, (reply) => {
    const { id, value, failure } = reply
    const caller = waiting.get(Number(id))
    waiting.delete(Number(id))
    if (failure === undefined) caller?.resolve(value)
    else caller?.reject(new Error(String(failure)))
  })
  void Promise.all([new Response(child.stderr).text(), child.exited]).then(([errors, code]) => {
    for (const { reject } of waiting.values()) reject(new Error(`${command.join(' ')} ended with ${code}: ${errors}`))
    waiting.clear()
  })
  return {
    call(name, parameters) {
      const id = ++count
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      waiting.set(id, { resolve, reject })
      child.stdin.write(`${JSON.stringify({ id, name, parameters })}\n`)
      child.stdin.flush()
      return promise
    },
    async stop() {
      child.stdin.end()
      await child.exited
    },
  }
}

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: JsonObject) => void): Promise<void> {
  const decoder = new TextDecoder()
  let buffer = ''
  for await (const bytes of stream) {
    buffer += decoder.decode(bytes, { stream: true })
    const lines = buffer.split('\n')
    buffer = lines.pop() ?? ''
    for (const line of lines) {
      const reply = parseJson(line)
      assert(isJsonObject(reply), 'the worker writes one JSON object a line')
      take(reply)
    }
  }
}
