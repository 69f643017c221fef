/** The figures of one measurement, and the benchmark's command line. */

import { describe, expect, test } from 'bun:test'
import type { JobResult } from '@bench/load/job'
import { parseOptions } from '@bench/options'
import type { Results } from '@bench/report/results'
import { inRounds, measureAtLength } from '@bench/scenarios/length'
import { streamsFor } from '@bench/scenarios/open-streams'
import { figuresOf } from '@bench/scenarios/window'
import type { World } from '@bench/world/world'
import { spend } from '@test/support/delays'

const TIMES = { p50: 1, p90: 2, p99: 3, worst: 4 }
const RESULT: JobResult = {
  ...{ seconds: 2, answered: 100, failures: {}, chunks: 0, latency: TIMES, firstToken: TIMES, chunkDelay: TIMES },
}
const USED = { peer: 5_000, redis: 1_000, postgres: 500, client: 2_000, upstream: 300 }
const LATER = { peer: 3_000, redis: 500, postgres: 500, client: 0, upstream: 0 }
const OURS = { unit: 'request', usesStores: true, hasProcess: true } as const

describe('figures', () => {
  test('benchmark figures are per request or per chunk of a stream', () => {
    expect(figuresOf(RESULT, USED, LATER, OURS)).toMatchObject({
      ...{ requestsPerSecond: 50, cpuMicroseconds: 50, redisMicroseconds: 10, postgresMicroseconds: 5 },
      ...{ clientMicroseconds: 20, p50Ms: 1, p99Ms: 3, failedShare: 0, allMicroseconds: 65, afterMs: 4 },
    })
    const pieces = figuresOf({ ...RESULT, chunks: 1_000 }, USED, LATER, { ...OURS, unit: 'chunk' })
    expect(pieces).toMatchObject({ cpuMicroseconds: 5, firstTokenP50Ms: 1, worstDelayMs: 4 })
    expect(pieces.requestsPerSecond).toBeUndefined()
  })

  test('benchmark figures have no store or processor time for a server that has none', () => {
    const figures = figuresOf(RESULT, USED, LATER, { unit: 'request', usesStores: false, hasProcess: false })
    expect(figures.cpuMicroseconds).toBeUndefined()
    expect(figures.redisMicroseconds).toBeUndefined()
  })

  test('a measurement with only failed answers has no figures', () => {
    expect(figuresOf({ ...RESULT, answered: 0, failures: { '503': 7 } }, USED, LATER, OURS)).toEqual({ failedShare: 1 })
    expect(figuresOf({ ...RESULT, answered: 0 }, USED, LATER, OURS)).toEqual({ failedShare: 1 })
    expect(figuresOf({ ...RESULT, failures: { closed: 100 } }, USED, LATER, OURS).failedShare).toBe(0.5)
  })
})

test('a benchmark of streams needs two file descriptors for each, and has at most ten thousand', () => {
  expect(streamsFor(65_535)).toBe(10_000)
  expect(streamsFor(20_000)).toBe(9_800)
  expect(streamsFor(100)).toBe(0)
})

describe('the command line', () => {
  test('the benchmark’s default is the quick run', () => {
    expect(parseOptions([])).toMatchObject({ mode: 'quick', rounds: undefined, isChecking: false })
    expect(parseOptions(['--full', '--check', '--rounds', '7'])).toMatchObject({
      mode: 'full',
      rounds: 7,
      isChecking: true,
    })
    for (const words of [['--check'], ['--baseline'], ['--against', 'elsewhere']]) {
      expect(parseOptions(words)).toMatchObject({ mode: 'guard' })
    }
    const some = parseOptions(['--only=json-1,json-64', '--peers', 'nginx'])
    expect(some).toMatchObject({ only: new Set(['json-1', 'json-64']), peers: new Set(['nginx']) })
  })

  test.each(['--fast', '--rounds=0', '--rounds=many'])('the command line prints its usage after %s', (argument) => {
    expect(parseOptions([argument])).toContain('Usage')
  })
})

test('a benchmark round that would end too late does not begin', async () => {
  const begun: number[] = []
  const run = async (round: number) => {
    begun.push(round)
    await spend(30)
  }
  expect(await inRounds(5, performance.now() + 100, run)).toBe(begun.length)
  expect(begun.length).toBeWithin(1, 4)
  expect(await inRounds(2, performance.now() + 60_000, async () => {})).toBe(2)
  expect(await inRounds(2, performance.now() - 1, run)).toBe(0)
})

test('a long benchmark scenario only runs if it is named, and then alone', async () => {
  const world = { contestants: [], client: { pid: process.pid } } as unknown as World
  const results = { rows: [], notes: [] } as unknown as Results
  const saidFor = async (...names: string[]) => {
    const said: string[] = []
    const isWanted = (name: string) => names.includes(name)
    const say = (line: string) => said.push(line.trim())
    await measureAtLength(world, { rounds: 1, untilMs: performance.now() + 60_000, isWanted, say }, results)
    return said
  }
  expect(await saidFor('json-64')).toEqual([])
  expect(await saidFor('open-streams')).toEqual(['open streams'])
  expect(await saidFor('stopped-readers')).toEqual(['clients that stop reading'])
})
