/** The structure of src/ as a test: who imports whom, sizes, headers, forbidden syntax, Lua headers, migration numbers. */
import { describe, expect, test } from 'bun:test'
import { basename } from 'node:path'
import { checkExports } from './export-rules'
import { checkCycles, checkImports } from './import-rules'
import { checkLua, checkMigrations } from './script-rules'
import type { Violation } from './source'
import { checkStyle, MAX_MEDIAN_LINES, median } from './style-rules'
import { listFiles, readText, readTrees } from './tree'

const TREES = readTrees()
const SOURCES = TREES.src
const MEDIAN = median(SOURCES.map((source) => source.lines))

describe('the structure of src/', () => {
  test('finds the sources', () => {
    expect(SOURCES.map((source) => source.path)).toContain('src/lib/money.ts')
  })

  test('imports follow the table', () => {
    expect(format(SOURCES.flatMap(checkImports))).toEqual([])
  })

  test('imports have no cycles', () => {
    expect(format(checkCycles(SOURCES))).toEqual([])
  })

  test('files and functions keep to size, header and syntax', () => {
    expect(format(SOURCES.flatMap(checkStyle))).toEqual([])
  })

  test(`the median file of ${SOURCES.length} has ${MEDIAN} lines, at most ${MAX_MEDIAN_LINES}`, () => {
    expect(MEDIAN).toBeLessThanOrEqual(MAX_MEDIAN_LINES)
  })

  test('Lua scripts say what they do', () => {
    const scripts = listFiles('src').filter((path) => path.endsWith('.lua'))
    expect(format(scripts.flatMap((path) => checkLua(path, readText(path))))).toEqual([])
  })

  test('migrations are numbered without gaps', () => {
    const names = listFiles('src/db/migrations').map((path) => basename(path))
    expect(format(checkMigrations(names.filter((name) => name.endsWith('.sql'))))).toEqual([])
  })

  test('every export has a taker', () => {
    expect(format(checkExports(Object.values(TREES).flat()))).toEqual([])
  })
})

function format(violations: Violation[]): string[] {
  return violations.map(({ path, line, rule, detail }) => `${path}:${line} [${rule}] ${detail}`)
}
