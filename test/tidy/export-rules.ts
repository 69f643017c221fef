/** What nobody uses goes: a name that no other file takes is not exported, and a file that nobody imports is a program. */
import { basename, dirname, join } from 'node:path'
import { EVERY_NAME, type ExportedName, exportedNames, starSpecifiers, takenNames } from './names'
import type { Source, Violation } from './source'
import { findTarget } from './tree'

/**
 * What src/ exports for its tests alone, by file, and why no public face leads a test there. A type or a constant that its
 * own file uses needs no line: a test may name what a face takes or gives, and count by the product's own numbers.
 */
const FOR_TESTS: Readonly<Record<string, readonly string[]>> = {
  // The links are missing on some machines only; a test takes them away from a copy.
  'src/boot/embedded/postgres-programs.ts': ['restoreLinks'],
  // Two gateways that expire one hold at the same moment: the sweeper would have to be hit in the middle.
  'src/ledger/holds/expire.ts': ['expireHolds'],
  // The tests look into a shard with the connection of the ledger under test.
  'src/ledger/ledger.ts': ['createDeps'],
  // The integers of the prelude, in a script that does nothing else.
  'src/ledger/scripts/scripts.ts': ['script'],
}

const CONSTANT = /^[A-Z][A-Z0-9_]+$/

type Takers = ReadonlyMap<string, ReadonlySet<string>>

/** Finds the exports of `sources` that no other file takes, and those of src/ that only a test, a fault or a bench does. */
export function checkExports(
  sources: readonly Source[],
  forTests: Readonly<Record<string, readonly string[]>> = FOR_TESTS,
): Violation[] {
  const takers = takersByName(sources)
  return sources.flatMap((source) => {
    const listed = forTests[source.path] ?? []
    const exported = exportedNames(source)
    const gone = listed.filter(
      (name) => !exported.some((item) => item.name === name && isForTests(takers, source, name)),
    )
    return [
      ...exported.flatMap((item) => {
        const detail = listed.includes(item.name) ? undefined : complaint(source, item, takers)
        return detail === undefined ? [] : [violation(source, item.line, `${item.name}: ${detail}`)]
      }),
      ...gone.map((name) => violation(source, 0, `${name}: stands in the list of exports for tests without being one`)),
    ]
  })
}

/**
 * Finds files that nobody imports and nobody starts. Whoever starts a file names it, in code or in one of `settings`: by its
 * folder and name, or by its name in quotes.
 */
export function checkOrphans(sources: readonly Source[], settings: readonly string[]): Violation[] {
  const paths = new Set(sources.map((source) => source.path))
  const imported = new Set(
    sources.flatMap(({ path, imports }) => imports.map(({ specifier }) => findTarget(path, specifier, paths))),
  )
  const orphans = sources.filter(({ path }) => !imported.has(path) && !/\.(test|d)\.tsx?$/.test(path))
  return orphans.flatMap((source) => {
    const name = basename(source.path)
    const others = sources.filter((other) => other !== source).map((other) => other.text)
    const isStarted = [...others, ...settings].some((text) => {
      return text.includes(join(basename(dirname(source.path)), name)) || text.includes(`'${name}'`)
    })
    return isStarted ? [] : [violation(source, 0, 'nobody imports it, and nobody starts it')]
  })
}

function complaint(source: Source, item: ExportedName, takers: Takers): string | undefined {
  const count = takersOf(takers, source.path, item.name).length
  if (count === 0) return item.usedAtHome ? 'only its own file uses it: no export' : 'nobody uses it'
  if (!isForTests(takers, source, item.name)) return undefined
  const isFace = item.isType || CONSTANT.test(item.name)
  return isFace && item.usedAtHome ? undefined : 'only tests use it'
}

function isForTests(takers: Takers, source: Source, name: string): boolean {
  if (!source.path.startsWith('src/')) return false
  const paths = takersOf(takers, source.path, name)
  return paths.length > 0 && paths.every((path) => !path.startsWith('src/'))
}

function takersOf(takers: Takers, path: string, name: string): string[] {
  return [name, EVERY_NAME].flatMap((taken) => [...(takers.get(`${path} ${taken}`) ?? [])])
}

/** By `path name` the files that take this export, those behind an `export *` among them. */
function takersByName(sources: readonly Source[]): Takers {
  const stars = new Map(sources.map((source) => [source.path, starSpecifiers(source)]))
  const paths = new Set(stars.keys())
  const takers = new Map<string, Set<string>>()

  function credit(target: string | undefined, name: string, taker: string): void {
    if (target === undefined || target === taker) return
    const key = `${target} ${name}`
    const known = takers.get(key) ?? new Set()
    if (known.has(taker)) return
    takers.set(key, known.add(taker))
    for (const specifier of stars.get(target) ?? []) credit(findTarget(target, specifier, paths), name, taker)
  }

  for (const source of sources) {
    for (const { specifier, name } of takenNames(source)) {
      credit(findTarget(source.path, specifier, paths), name, source.path)
    }
  }
  return takers
}

function violation(source: Source, line: number, detail: string): Violation {
  return { path: source.path, line, rule: 'export', detail }
}
