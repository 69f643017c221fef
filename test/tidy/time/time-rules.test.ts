/** The time rules on small samples: measured durations, sleeps and tight limits are found, moments are not. */
import { describe, expect, test } from 'bun:test'
import { readSource } from '@test/tidy/source'
import { checkAllowances, checkTime } from './time-rules'

function complaints(code: string, path = 'test/lib/sample.test.ts'): string[] {
  return checkTime(readSource(path, code)).map(({ detail }) => detail)
}

describe('places that depend on time', () => {
  test.each([
    ['a duration', 'const start = performance.now()\nwork()\nconst took = performance.now() - start\n'],
    ['a duration in an expectation', 'const at = Date.now()\nwork()\nexpect(Date.now() - at).toBeLessThan(LIMIT)\n'],
    ['a duration by another clock', 'const at = Bun.nanoseconds()\nexpect(later() - at).toBeLessThan(9)\n'],
    ['the time since a moment', 'expect(Math.abs(Date.parse(text) - Date.now())).toBeLessThan(9)\n'],
    ['an own wait function', 'const end = performance.now() + 9\nwhile (performance.now() < end) work()\n'],
    ['a sleep', 'await Bun.sleep(20)\n'],
    ['a sleep of a named length', 'await Bun.sleep(PAUSE_MS)\n'],
    ['a sleep of the whole process', 'Bun.sleepSync(1)\n'],
    ['a timer', 'setTimeout(work, 20)\n'],
    ['a sleep in the browser', 'await page.waitForTimeout(20)\n'],
    ['a signal after a time', 'fetch(url, { signal: AbortSignal.timeout(500) })\n'],
    ['a limit of a wait', "await until(isReady, 'it', 5_000)\n"],
    ['a limit of a file', 'setDefaultTimeout(60_000)\n'],
    ['a limit of a test', "test('it works', async () => {}, 5_000)\n"],
    ['a limit of a test.each', "test.each([1])('it works', async () => {}, 5_000)\n"],
    ['a limit of a hook', 'afterAll(stop, 5_000)\n'],
    ['a moment not long ago', 'expect(Date.parse(text)).toBeGreaterThan(Date.now() - 60_000)\n'],
    ['values without a seed', "import fc from 'fast-check'\n"],
    ['chance', 'const name = Math.random()\n'],
  ])('this place that depends on time is found: %s', (_, code) => {
    expect(complaints(code)).toHaveLength(1)
  })
})

describe('places that do not depend on time', () => {
  test.each([
    ['a moment in the past', 'const since = Date.now() - 86_400_000\n'],
    ['a moment between two others', 'const at = Date.now()\nwork()\nexpect(read()).toBeWithin(at, Date.now() + 1)\n'],
    ['a clock that is handed in', 'const clock = { now: () => Date.now(), monotonic: () => performance.now() }\n'],
    ['a turn of the event loop', 'await Bun.sleep(0)\n'],
    ['a wait for something', "await until(() => seen.length > 3, 'three')\n"],
    ['a long limit', "setDefaultTimeout(300_000)\ntest('it works', async () => {}, 600_000)\n"],
    ['a test without a limit', "test.each([1, 2])('it works', async () => {})\n"],
  ])('this place that does not depend on time is not reported: %s', (_, code) => {
    expect(complaints(code)).toEqual([])
  })

  test('a listed place may depend on time as often as the list says', () => {
    expect(complaints('await Bun.sleep(20)\n', 'test/support/until.ts')).toEqual([])
    expect(complaints('const start = Math.random()\n', 'test/fuzz/main.ts')).toEqual([])
    expect(complaints("until(isReady, 'it', 5_000)\n", 'test/support/until.ts')).toHaveLength(1)
  })
})

test('a listed place that no longer depends on time is found', () => {
  const used = readSource('test/support/until.ts', 'await Bun.sleep(5)\n')
  const paths = (files: Parameters<typeof checkAllowances>[0]) => checkAllowances(files).map(({ path }) => path)
  expect(paths([])).toContain('test/support/until.ts')
  expect(paths([used])).not.toContain('test/support/until.ts')
  expect(paths([readSource('test/support/until.ts', 'await Bun.sleep(0)\n')])).toContain('test/support/until.ts')
})
