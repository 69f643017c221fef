/** Reading processor time and memory of process trees from /proc. */
import { describe, expect, test } from 'bun:test'
import {
  descendants,
  microsecondsBetween,
  parseParent,
  parseResidentBytes,
  parseSchedstat,
  readTree,
} from '@bench/machine/proc'
import { parseOpenFileLimit } from '@bench/scenarios/open-streams'
import { parseBusy } from '@bench/world/noise'
import { until } from '@test/support/until'

describe('reading /proc', () => {
  test('the parent of a process is found, whatever characters the process name has', () => {
    expect(parseParent('42 (bun) S 7 42 42 0 -1')).toBe(7)
    expect(parseParent('42 (a) b) (c) R 9 1 1')).toBe(9)
    expect(parseParent('')).toBeUndefined()
  })

  test('processor time, resident memory, machine work and open files are read from /proc', () => {
    expect(parseSchedstat('377376 1069114 2\n')).toBe(377376)
    expect(parseSchedstat('')).toBeUndefined()
    expect(parseResidentBytes('9000 250 100 1 0 900 0')).toBe(1_024_000)
    expect(parseBusy('cpu  10 1 5 1000 30 2 3 4 50 60\ncpu0 1 1 1 1')).toBe(25)
    expect(
      parseOpenFileLimit('Limit  Soft Limit\nMax open files            20000                65535    files\n'),
    ).toBe(20_000)
  })
})

describe('process trees', () => {
  test('a process tree has all descendants of its roots, once each', () => {
    const parents = new Map([
      [2, 1],
      [3, 2],
      [4, 2],
      [5, 3],
      [9, 8],
    ])
    expect(descendants([2], parents).sort()).toEqual([2, 3, 4, 5])
    expect(descendants([3, 5], parents).sort()).toEqual([3, 5])
    expect(descendants([], parents)).toEqual([])
  })

  test('processor time is summed over threads; new threads count from zero, ended ones are omitted', () => {
    const reading = (threads: Record<string, number>) => ({
      nanosecondsByThread: new Map(Object.entries(threads)),
      residentBytes: 0,
    })
    expect(microsecondsBetween(reading({ a: 5_000, gone: 9_000 }), reading({ a: 7_000, new: 1_000 }))).toBe(3)
  })

  test('the processor time of a grandchild process is counted', async () => {
    const work = 'let sum = 0; for (;;) sum += Math.sqrt(sum + 1)'
    const child = Bun.spawn(['bash', '-c', `${process.execPath} -e "${work}"; true`], {
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    const before = readTree([child.pid])
    try {
      await until(() => microsecondsBetween(before, readTree([child.pid])) > 100_000, 'the work to be seen')
      expect(readTree([child.pid]).residentBytes).toBeGreaterThan(1_000_000)
    } finally {
      for (const pid of descendantsNow(child.pid)) process.kill(pid, 'SIGKILL')
      await child.exited
    }
  })
})

/** Children first, so that none is left without a parent. */
function descendantsNow(root: number): number[] {
  const threads = [...readTree([root]).nanosecondsByThread.keys()]
  return [...new Set(threads.map((name) => Number(name.split('/')[0])))].sort((one, other) => other - one)
}
