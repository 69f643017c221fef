/** The log writer: order, memory, and lines of a process that ends, on real files and pipes. */

import { describe, expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { standStill } from '@test/support/delays'
import { PATIENCE_MS, until } from '@test/support/until'
import { createLogWriter } from '@/lib/log-writer'

const ROOT = join(import.meta.dir, '..', '..')

async function withFile(use: (descriptor: number, read: () => string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'log-writer-'))
  const path = join(folder, 'log')
  const descriptor = openSync(path, 'w')
  try {
    await use(descriptor, () => readFileSync(path, 'utf8'))
  } finally {
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  }
}

function run(script: string) {
  return Bun.spawn([process.execPath, '-e', script], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
}

/** Runs a script whose output nobody reads before its standard input ends. */
function runUnread(script: string) {
  const pipeline = 'exec 3<&0; "$0" -e "$1" </dev/null | { cat <&3; cat; }'
  return Bun.spawn(['sh', '-c', pipeline, process.execPath, script], {
    cwd: ROOT,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

describe('the log writer', () => {
  test('the log writer writes every line in order', () =>
    withFile(async (descriptor, read) => {
      const writer = createLogWriter(descriptor)
      const lines = Array.from({ length: 5000 }, (_, index) => `line ${index} ä\n`)
      for (const [index, line] of lines.entries()) {
        writer.write(line)
        if (index % 500 === 0) await writer.flush()
      }
      await writer.flush()
      expect(read()).toBe(lines.join(''))
    }))

  test('when the process exits the log writer writes the remaining lines', () =>
    withFile(async (descriptor, read) => {
      const writer = createLogWriter(descriptor)
      writer.write('last words\n')
      writer.flushSync()
      expect(read()).toBe('last words\n')
      await writer.flush()
      expect(read()).toBe('last words\n')
    }))

  test('the log writer joins lines of many turns in one write', async () => {
    const child = run(`
      import { readFileSync } from 'node:fs'
      import { createLogWriter } from '@/lib/log-writer'
      const writer = createLogWriter()
      const writes = () => Number(/syscw: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
      const before = writes()
      for (let line = 0; line < 200; line++) {
        writer.write('line ' + line + '\\n')
        await new Promise(setImmediate)
      }
      process.stderr.write(String(writes() - before))
    `)
    const text = await new Response(child.stdout).text()
    expect(text).toBe(Array.from({ length: 200 }, (_, at) => `line ${at}\n`).join(''))
    // One by one they would be 600: the thread that writes and the loop it wakes write a word to each other each time.
    expect(Number(await new Response(child.stderr).text())).toBeLessThan(100)
  })

  test('the log writer does not wait once a batch is full', () =>
    withFile(async (descriptor, read) => {
      const writer = createLogWriter(descriptor)
      const line = `${'x'.repeat(999)}\n`
      for (let count = 0; count < 66; count++) writer.write(line)
      writer.write('one more\n')
      // No turn of the event loop, and so no timer, in between.
      for (let round = 0; read().length < 66 * line.length && round < PATIENCE_MS; round++) standStill(1)
      expect(read()).toBe(line.repeat(66))
      await until(() => read().endsWith('one more\n'), 'the line behind it')
    }))

  test.each([
    ['calls process.exit', 'process.exit(3)'],
    ['throws', "setImmediate(() => { throw new Error('not caught') })"],
    ['rejects', "setImmediate(() => void Promise.reject(new Error('not caught')))"],
    ['ends normally', ''],
  ])('the log writer loses no line of a process that %s', async (_, end) => {
    const child = run(`
      import { createLogWriter, flushOnExit } from '@/lib/log-writer'
      const writer = createLogWriter()
      flushOnExit(writer)
      for (let line = 0; line < 100; line++) writer.write('x'.repeat(1000) + '\\n')
      writer.write('last words\\n')
      ${end}
    `)
    const text = await new Response(child.stdout).text()
    expect(text.split('\n').map((line) => line.length)).toEqual([...Array(100).fill(1000), 'last words'.length, 0])
  })

  test('the log writer stops quietly on a closed descriptor', async () => {
    const writer = createLogWriter(987_654)
    writer.write('nobody reads this\n')
    await writer.flush()
    writer.write('nor this\n')
    writer.flushSync()
    await writer.flush()
  })

  test('the log writer continues after the reader of its pipe has closed', async () => {
    const child = run(`
      import { createLogWriter } from '@/lib/log-writer'
      const writer = createLogWriter()
      writer.write('ready\\n')
      process.stdin.resume()
      for (let round = 0; round < 50; round++) {
        writer.write('x'.repeat(100_000) + '\\n')
        await writer.flush()
      }
      writer.flushSync()
      process.stderr.write('still alive')
      process.exit(0)
    `)
    const reader = child.stdout.getReader()
    await reader.read()
    await reader.cancel()
    expect(await new Response(child.stderr).text()).toBe('still alive')
    expect(await child.exited).toBe(0)
  })

  test('without a reader the log writer neither blocks nor grows, and reports dropped lines', async () => {
    const child = runUnread(`
      import { createLogWriter } from '@/lib/log-writer'
      const writer = createLogWriter()
      const line = 'x'.repeat(99_999) + '\\n'
      for (let round = 0; round < 1000; round++) {
        writer.write(line)
        await new Promise(setImmediate)
      }
      process.stderr.write('not blocked\\n')
      await writer.flush()
      process.exit(0)
    `)
    let complaints = ''
    const decoder = new TextDecoder()
    const watching = child.stderr.pipeTo(
      new WritableStream({
        write(bytes) {
          complaints += decoder.decode(bytes)
        },
      }),
    )
    await until(() => complaints.includes('not blocked'), 'the child to get past a full pipe')
    child.stdin.end()
    const text = await new Response(child.stdout).text()
    await watching
    const notes = text.matchAll(/\{"level":"warn","event":"log_lines_dropped","lines":(\d+)\}\n/g)
    const dropped = [...notes].reduce((sum, [, lines]) => sum + Number(lines), 0)
    expect(dropped).toBeGreaterThan(0)
    // The queue of 8 MiB, and beside it what was written before the pipe was full.
    expect(text.length).toBeLessThan(9_000_000)
    expect(dropped + text.split('\n').filter((line) => line.startsWith('x')).length).toBe(1000)
  })
})
