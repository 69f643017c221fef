/** The parts of the test suite, the programs that files need, and the summary of a run. */
import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { JUDGES, judgeOf } from './judges'
import { LONGEST, startOrder } from './longest'
import { createNeedsReader } from './needs'
import { CHECKED, selectFiles } from './parts'
import { failedTests, readTimings, skippedTests, timingTable, untriedLines } from './report'

const ROOT = join(import.meta.dir, '..', '..')
const needsOf = createNeedsReader()

describe('the list of judges', () => {
  test('each file in the list of judges (slow tests) exists and is listed once', () => {
    expect(JUDGES.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([])
    const within = JUDGES.filter((judge) => JUDGES.some(({ path }) => judge.path.startsWith(`${path}/`)))
    expect(within).toEqual([])
    expect(new Set(JUDGES.map(({ path }) => path)).size).toBe(JUDGES.length)
  })

  test('an entry in the list of judges matches a file or a folder, but no prefix of a name', () => {
    expect(judgeOf('test/fuzz/fuzz.test.ts')).toMatchObject({ path: 'test/fuzz' })
    expect(judgeOf('test/fuzzy.test.ts')).toBeUndefined()
  })

  test('each test that runs a program other than Chromium is in the list of judges', () => {
    const driving = selectFiles('test', []).filter((file) => [...needsOf(file)].some((need) => need !== 'chromium'))
    expect(driving).toEqual([])
  })
})

describe('the parts of a run', () => {
  test('the parts of a run cover all files once, except those of `bun run check`', async () => {
    const all = [...new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync(ROOT)].sort()
    const checked = all.filter((file) => file.startsWith(CHECKED))
    expect([...selectFiles('test', []), ...selectFiles('judges', []), ...checked].sort()).toEqual(all)
    const { scripts } = await Bun.file(join(ROOT, 'package.json')).json()
    expect(scripts.check).toContain(` ${CHECKED.slice(0, -1)} `)
  })

  test('folders and files narrow a part, with or without a leading dot', () => {
    expect(selectFiles('test', ['test/lib/money.test.ts'])).toEqual(['test/lib/money.test.ts'])
    expect(selectFiles('test', ['./test/lib/'])).toContain('test/lib/money.test.ts')
    expect(selectFiles('judges', ['test/lib'])).toEqual([])
    expect(selectFiles('test', ['test/li'])).toEqual([])
  })

  test('a test needs a program if it or a file that it imports uses the program', () => {
    expect([...needsOf('test/dashboard/keys.test.ts')]).toEqual(['chromium'])
    expect([...needsOf('test/deploy/proxy.test.ts')]).toEqual(['caddy'])
    expect([...needsOf('test/clients/python/clients.test.ts')]).toEqual(['python'])
    expect([...needsOf('test/clients/java/clients.test.ts')]).toEqual(['java'])
    expect([...needsOf('test/console/orders/deposits/stripe-mock.test.ts')]).toEqual(['go'])
    expect([...needsOf('test/lib/money.test.ts')]).toEqual([])
    expect([...needsOf('test/deploy/documents/blocks.test.ts')]).toEqual(['curl'])
  })
})

describe('the order of a run', () => {
  test('the order starts the longest files first, and contains every file', () => {
    expect(LONGEST.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
    const [first = '', second = ''] = LONGEST
    const { files } = JSON.parse(startOrder(['test/a.test.ts', second, first])) as { files: Record<string, number> }
    expect(Object.entries(files).toSorted(([, one], [, other]) => other - one)).toEqual([
      [first, LONGEST.length],
      [second, LONGEST.length - 1],
      ['test/a.test.ts', 0],
    ])
  })
})

describe('the summary of a run', () => {
  test('tests without their program are listed in one line, with the command for them', () => {
    const missing = new Map([['test/dashboard/keys.test.ts', ['chromium'] as const]])
    expect(untriedLines('test', missing, [])).toEqual([
      'NOT TRIED: 1 files of test/dashboard, for want of chromium: apt-get install chromium && bun run test test/dashboard/keys.test.ts',
    ])
    expect(untriedLines('test', new Map(), [])).toEqual([])
  })

  test('skipped tests are listed', () => {
    const report = `<testsuite name="a"><testcase name="ok" file="test/a.test.ts" line="2" assertions="1" />
      <testcase name="one &gt; two" classname="d" time="0" file="test/a.test.ts" line="2" assertions="0">
        <skipped />
      </testcase></testsuite>`
    expect(untriedLines('judges', new Map(), skippedTests(report))).toEqual(['SKIPPED: test/a.test.ts: d > one > two'])
  })

  test('failed tests are listed with the start of the reason', () => {
    const report = `<testsuite name="a"><testcase name="ok" classname="" time="0" file="test/a.test.ts" line="2" assertions="1" />
      <testcase name="says &quot;no&quot;" classname="d" time="0.1" file="test/a.test.ts" line="2" assertions="1">
        <failure type="AssertionError" message="expect(received).toBe(expected)&#10;&#10;Expected: 2&#10;">AssertionError</failure>
      </testcase>
      <testcase name="thrown" classname="" time="0.1" file="test/b.test.ts" line="2" assertions="1">
        <failure type="TestTimeoutError" />
      </testcase></testsuite>`
    expect(failedTests(report)).toEqual([
      'test/a.test.ts: d > says "no": expect(received).toBe(expected) Expected: 2',
      'test/b.test.ts: thrown: ',
    ])
  })

  const timings = [
    { file: 'test/a/one.test.ts', wall: 3, own: 2, children: 0.5 },
    { file: 'test/b/two.test.ts', wall: 9, own: 4, children: 3 },
    { file: 'test/b/three.test.ts', wall: 1, own: 0.1, children: 0 },
  ]
  const noted = timings.map((timing) => `${JSON.stringify(timing)}\n`).join('')
  const files = timings.map(({ file }) => file)

  test('a file that a test starts as a process is not counted as a test file', () => {
    expect(readTimings(noted, files.slice(1))).toEqual(timings.slice(1))
  })

  test('folders and files are listed by their duration, longest first', () => {
    const names = timingTable(readTimings(noted, files))
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s\s+/).at(-1))
    expect(names).toEqual(['test/b (2)', 'test/a (1)', '', 'test/b/two.test.ts', 'test/a/one.test.ts'])
  })
})
