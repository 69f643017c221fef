/** The structure of src/ as a test: who imports whom, sizes, headers, forbidden syntax, Lua headers, migration numbers. */
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkCycles, checkImports } from './import-rules'
import { checkLua, checkMigrations } from './script-rules'
import { readSource, type Violation } from './source'
import { checkStyle, MAX_MEDIAN_LINES, median } from './style-rules'

const ROOT = join(import.meta.dir, '..', '..')
const FILES = (readdirSync(join(ROOT, 'src'), { recursive: true }) as string[]).map((path) => `src/${path}`).sort()
const SOURCES = FILES.filter((path) => /\.tsx?$/.test(path)).map((path) => readSource(path, read(path)))
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
    const scripts = FILES.filter((path) => path.endsWith('.lua'))
    expect(format(scripts.flatMap((path) => checkLua(path, read(path))))).toEqual([])
  })

  test('migrations are numbered without gaps', () => {
    const folder = join(ROOT, 'src/db/migrations')
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sql')) : []
    expect(format(checkMigrations(names))).toEqual([])
  })
})

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function format(violations: Violation[]): string[] {
  return violations.map(({ path, line, rule, detail }) => `${path}:${line} [${rule}] ${detail}`)
}
