/** A process dies exactly at its configured crash point, and at no other. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CRASH_POINT_PATTERN } from '@/lib/crash-point'

const MODULE = join(import.meta.dir, '..', '..', 'src', 'lib', 'crash-point.ts')
const PASSINGS = ['reserved', 'settled', 'reserved', 'settled']

/** What a process with this setting has written when it ends, and by what it ended. */
async function passAll(at: string | undefined): Promise<{ passed: string[]; signal: unknown }> {
  const code = `
    import { writeSync } from 'node:fs'
    import { createCrashPoint } from ${JSON.stringify(MODULE)}
    const pass = createCrashPoint(${JSON.stringify(at)})
    for (const name of ${JSON.stringify(PASSINGS)}) {
      pass(name)
      writeSync(1, name + '\\n')
    }`
  const child = Bun.spawn([process.execPath, '--eval', code], { stdout: 'pipe', stderr: 'inherit' })
  const text = await new Response(child.stdout).text()
  await child.exited
  return { passed: text.split('\n').slice(0, -1), signal: child.signalCode }
}

describe('a crash point', () => {
  test.each([
    ['is passed if none is set', undefined, 4, null],
    ['is passed if another is set', 'booked', 4, null],
    ['is passed before its turn', 'settled:3', 4, null],
    ['ends the process', 'settled', 1, 'SIGKILL'],
    ['counts only its own passings', 'settled:2', 3, 'SIGKILL'],
    ['can be the first one', 'reserved:1', 0, 'SIGKILL'],
  ])('a crash point %s', async (_, at, count, signal) => {
    expect(await passAll(at)).toEqual({ passed: PASSINGS.slice(0, count), signal })
  })

  test('a misspelt crash point is refused', () => {
    const pattern = new RegExp(CRASH_POINT_PATTERN)
    for (const at of ['settled', 'before_settle:3', 'a:999999']) expect(pattern.test(at)).toBe(true)
    for (const at of ['', 'Settled', 'settled:0', 'settled:', 'settled:x', 'settled:1000000', 'a b']) {
      expect(pattern.test(at)).toBe(false)
    }
  })
})
