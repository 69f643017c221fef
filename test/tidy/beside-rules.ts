/** Who may import whom beside src/: the tests, the fault suite and the measurements, and how they write an import. */
import { dirname } from 'node:path'
import type { Import, Source, Violation } from './source'
import { resolveLocal } from './tree'

/** The rooms of bench/. */
const BENCH = [
  'books',
  'load',
  'machine',
  'mock',
  'peers',
  'report',
  'router',
  'scenarios',
  'soak',
  'stages',
  'world',
].map((room) => `bench/${room}`)

/**
 * What each tree or folder beside src/ may import beside itself and packages. The longest row that a path begins with is its
 * own; the product stands in the table because everybody looks at it.
 */
export const MAY_IMPORT_BESIDE: Readonly<Record<string, readonly string[]>> = {
  src: [],
  test: ['src'],
  'test/faults': ['src', 'test', 'faults', 'faults/cases'],
  faults: ['src', 'test', 'faults/cases', 'faults/check', 'faults/fault', 'faults/world'],
  'faults/cases': ['src', 'test', 'faults/fault', 'faults/world'],
  'faults/check': ['src', 'test', 'faults/fault', 'faults/world'],
  'faults/fault': ['faults/world'],
  'faults/world': ['src', 'test'],
  'test/bench': ['src', 'test', 'bench', ...BENCH],
  bench: ['src', 'test', ...BENCH],
  'bench/books': ['src', 'test'],
  'bench/load': ['src'],
  'bench/machine': ['src', 'faults/world', 'bench/load'],
  'bench/mock': ['bench/load'],
  'bench/peers': ['src', 'bench/load', 'bench/machine', 'bench/report'],
  'bench/report': [],
  'bench/router': ['src', 'test'],
  'bench/scenarios': ['bench/books', 'bench/load', 'bench/machine', 'bench/peers', 'bench/report', 'bench/world'],
  'bench/soak': ['src', 'faults/world', 'bench/load', 'bench/machine', 'bench/peers', 'bench/report'],
  'bench/stages': ['src', 'bench/load', 'bench/machine', 'bench/mock', 'bench/peers', 'bench/report'],
  'bench/world': ['src', 'bench/load', 'bench/machine', 'bench/peers', 'bench/report'],
}

/** Checks the imports of a file that is not of src/. */
export function checkImportsBeside(source: Source): Violation[] {
  return source.imports.flatMap((item) => {
    const detail = complaint(source.path, item)
    return detail === undefined ? [] : [{ path: source.path, line: item.line, rule: 'import', detail }]
  })
}

function complaint(path: string, { specifier }: Import): string | undefined {
  if (specifier.includes('../')) return `${specifier}: import across folders as @test/folder/file`
  const target = resolveLocal(path, specifier)
  if (target === undefined) return undefined
  const [from, to] = [rowOf(path), rowOf(target)]
  if (dirname(path) === dirname(target) && !specifier.startsWith('./')) {
    return `${specifier}: import inside a folder as ./file`
  }
  if (from === to || MAY_IMPORT_BESIDE[from]?.includes(to)) return undefined
  return `${from} may not import ${to} (${specifier})`
}

function rowOf(path: string): string {
  const name = path.replace(/\.tsx?$/, '')
  return name in MAY_IMPORT_BESIDE || dirname(name) === '.' ? name : rowOf(dirname(name))
}
