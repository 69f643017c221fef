/** The structure of all source trees: imports, unused code, sizes, headers, syntax, scripts, migrations. Slow: it parses every source. */
import { describe, expect, test } from 'bun:test'
import { basename, join } from 'node:path'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { checkImportsBeside } from './beside-rules'
import { checkMirror, checkNames } from './folder-rules'
import { checkFormats } from './format-rules'
import { checkHeader, checkTwins } from './header-rules'
import { checkImports } from './import-rules'
import { checkLedgerAssembly, checkLedgerNames } from './ledger-rules'
import { checkParts } from './lua-rules'
import { checkComments, checkDocument } from './path-rules'
import { checkLua, checkMigrations } from './script-rules'
import type { Violation } from './source'
import { checkStyle } from './style-rules'
import { checkAllowances, checkTime } from './time/time-rules'
import { listFiles, listRootFiles, readScriptNames, readText, readTrees, TREE_NAMES } from './tree'

const TREES = readTrees()
const SOURCES = TREES.src
const BESIDE = [...TREES.faults, ...TREES.bench]
/** The rest of what is ours, beside the code. */
const FOLDERS = [...TREE_NAMES, 'config', 'deploy', 'docs', 'patches']
const PATHS = TREE_NAMES.flatMap(listFiles)
const OURS = PATHS.filter((path) => !path.startsWith('test/fixtures/'))
const ALL = Object.values(TREES).flat()

describe('the structure of src/', () => {
  test('the sources exist', () => {
    expect(SOURCES.map((source) => source.path)).toContain('src/lib/money.ts')
  })

  test('imports of src/ follow the import table', () => {
    expect(format(SOURCES.flatMap(checkImports))).toEqual([])
  })

  test('no two files open with the same sentence', () => {
    expect(format(checkTwins(SOURCES))).toEqual([])
  })

  test('Lua scripts have their header', () => {
    const scripts = listFiles('src').filter((path) => path.endsWith('.lua'))
    expect(format(scripts.flatMap((path) => checkLua(path, readText(path))))).toEqual([])
  })

  test('only ledger/ contains names of Redis keys', () => {
    expect(format(SOURCES.flatMap(checkLedgerNames))).toEqual([])
  })

  test('Lua scripts list their arguments, and the files that use their Redis keys', () => {
    const paths = listFiles('src/ledger').filter((path) => path.endsWith('.lua'))
    const files = paths.map((path) => ({ name: basename(path, '.lua'), text: readText(path) }))
    const typescript = SOURCES.filter((source) => source.path.startsWith('src/ledger/'))
    expect(files.length).toBeGreaterThan(Object.keys(SCRIPTS).length)
    const scripts = Object.values(SCRIPTS).map(({ name, source }) => ({ name, text: source }))
    expect(format(checkParts(files, scripts, typescript))).toEqual([])
  })

  test('only a format’s folder mentions it by name', () => {
    expect(format(SOURCES.flatMap(checkFormats))).toEqual([])
  })

  test('migrations are numbered without gaps', () => {
    const names = listFiles('src/db/migrations').map((path) => basename(path))
    expect(format(checkMigrations(names.filter((name) => name.endsWith('.sql'))))).toEqual([])
  })
})

describe('the structure of all trees', () => {
  test('the ledger is created in one place', () => {
    expect(format(ALL.flatMap(checkLedgerAssembly))).toEqual([])
  })

  test('faults/, bench/ and test/ import what their table allows', () => {
    expect(format([...BESIDE, ...TREES.test].flatMap(checkImportsBeside))).toEqual([])
  })

  test('files and functions keep to the limits of size and to the syntax rules', () => {
    expect(format(ALL.flatMap(checkStyle))).toEqual([])
  })

  test('every file begins with a sentence about itself', () => {
    expect(format(ALL.flatMap(checkHeader))).toEqual([])
  })

  test('tests are in the folder of their subject', () => {
    expect(format(checkMirror(PATHS))).toEqual([])
  })

  test('no two files of a folder have nearly the same name', () => {
    expect(format(checkNames(OURS))).toEqual([])
  })

  test('documents, settings and comments name existing files, folders and commands', () => {
    const project = { files: [...listRootFiles(), ...FOLDERS.flatMap(listFiles)], scripts: readScriptNames() }
    const texts = project.files.filter((path) => /\.md$|^[^/]*\.(json|yaml)$|^Dockerfile$/.test(path))
    const commented = PATHS.filter((path) => /\.(tsx?|lua)$/.test(path) && !path.startsWith('test/tidy/'))
    expect(
      format([
        ...texts.flatMap((path) => checkDocument(path, readText(path), project)),
        ...commented.flatMap((path) => checkComments(path, readText(path), project)),
      ]),
    ).toEqual([])
  })

  test('test/security/README.md has a test file for each protection S1 to S29', () => {
    const rows = [...readText('test/security/README.md').matchAll(/^\| (S\d+) \|(.*)$/gm)]
    const tested = rows.flatMap(([, number = '', row = '']) => {
      const texts = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => readText(path))
      return texts.some((text) => new RegExp(`['"\`]${number}: `).test(text)) ? [number] : []
    })
    expect(tested).toEqual(Array.from({ length: 29 }, (_, index) => `S${index + 1}`))
  })

  test('test/security/README.md has a protection or a test for each advisory', () => {
    const rows = readText('test/security/README.md')
      .split('\n')
      .filter((line) => /^\| .*(CVE|GHSA|#\d|PyPI)/.test(line))
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.filter((row) => !/\| [^|]*(\bS\d+\b|`test\/)[^|]*\|$/.test(row))).toEqual([])
  })

  test('no test measures time, sleeps, uses unseeded randomness, or has a limit that load can reach', () => {
    // The rules and their samples name what they forbid.
    const sources = TREES.test.filter(({ path }) => !path.startsWith('test/tidy/'))
    expect(format([...sources.flatMap(checkTime), ...checkAllowances(sources)])).toEqual([])
  })

  // Of the product alone an export that only tests use is unused.
  test('knip finds no unused file, export or package, and no cycle in the product and in all', async () => {
    expect(await Promise.all([knip('--production'), knip()])).toEqual([NOTHING_FOUND, NOTHING_FOUND])
  })
})

const NOTHING_FOUND = { output: '', exitCode: 0 }

async function knip(...words: string[]): Promise<typeof NOTHING_FOUND> {
  const command = [process.execPath, 'node_modules/knip/bin/knip.js', '--no-progress', ...words]
  const program = Bun.spawn(command, { cwd: join(import.meta.dir, '..', '..'), stdio: ['ignore', 'pipe', 'inherit'] })
  return { output: await new Response(program.stdout).text(), exitCode: await program.exited }
}

function format(violations: Violation[]): string[] {
  return violations.map(({ path, line, rule, detail }) => `${path}:${line} [${rule}] ${detail}`)
}
