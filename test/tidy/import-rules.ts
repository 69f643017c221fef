/** Who may import whom: the table of docs/ARCHITECTURE.md, cycles, and how an import is written. */
import { dirname, join } from 'node:path'
import type { Import, Source, Violation } from './source'

/** What only the dashboard and its webhooks need: people, top-ups, and those who watch over them. */
const CONSOLE = ['administration', 'orders', 'auth']
const DOMAIN = ['accounts', 'usage', 'upstream', 'routing', 'ledger', 'catalog', 'db', 'formats', 'chat', 'lib']

/**
 * What each folder of src/ may import beside itself and packages. `(root)` stands for the files directly in src/, such as
 * main.ts; of those, app.ts and config.ts have rows of their own. boot/ is what main.ts is made of.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  '(root)': ['boot', 'app', 'config', 'admin', 'embedded', 'dashboard', 'http', 'gateway', ...CONSOLE, ...DOMAIN],
  boot: ['app', 'config', 'embedded', 'dashboard', 'http', 'gateway', ...CONSOLE, ...DOMAIN],
  admin: ['boot', 'config', 'embedded', 'gateway', ...CONSOLE, ...DOMAIN],
  app: ['dashboard', 'http', 'gateway', ...CONSOLE, ...DOMAIN],
  config: ['lib'],
  embedded: ['lib'],
  http: ['gateway', ...CONSOLE, ...DOMAIN],
  gateway: DOMAIN,
  administration: ['orders', 'auth', ...DOMAIN],
  orders: ['accounts', 'ledger', 'db', 'chat', 'lib'],
  auth: ['accounts', 'ledger', 'db', 'chat', 'lib'],
  accounts: ['ledger', 'db', 'formats', 'chat', 'lib'],
  usage: ['ledger', 'db', 'formats', 'chat', 'lib'],
  upstream: ['catalog', 'formats', 'chat', 'lib'],
  routing: ['catalog', 'formats', 'chat', 'lib'],
  ledger: ['formats', 'chat', 'lib'],
  catalog: ['formats', 'chat', 'lib'],
  db: ['formats', 'chat', 'lib'],
  formats: ['chat', 'lib'],
  chat: ['lib'],
  lib: [],
  dashboard: ['lib'],
}

/** Types that may be imported against the table: the tables of db/ hold the ledger's words, the pages what http/ answers. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = { db: ['ledger'], dashboard: ['http'] }

/** Checks how each import is written and that the table allows it. */
export function checkImports(source: Source): Violation[] {
  return source.imports.flatMap((item) => {
    const detail = complaint(source.path, item)
    return detail === undefined ? [] : [{ path: source.path, line: item.line, rule: 'import', detail }]
  })
}

/** Finds import cycles between files, types included: each is reported once, from the file that sorts first. */
export function checkCycles(sources: readonly Source[]): Violation[] {
  const targets = new Map(sources.map((source) => [source.path, localTargets(source, sources)]))
  const done = new Set<string>()
  const violations: Violation[] = []

  function walk(path: string, trail: string[]): void {
    const start = trail.indexOf(path)
    if (start !== -1) {
      const cycle = [...trail.slice(start), path].join(' → ')
      violations.push({ path, line: 0, rule: 'cycle', detail: cycle })
      return
    }
    if (done.has(path)) return
    for (const target of targets.get(path) ?? []) walk(target, [...trail, path])
    done.add(path)
  }

  for (const path of [...targets.keys()].sort()) walk(path, [])
  return violations
}

function complaint(path: string, item: Import): string | undefined {
  const { specifier } = item
  if (specifier.includes('../')) return `${specifier}: import across folders as @/folder/file`
  if (specifier.startsWith('@test/')) return `${specifier}: the product does not import its tests`
  const target = resolveLocal(path, specifier)
  if (target === undefined) return undefined
  const [from, to] = [areaOf(path), areaOf(target)]
  if (from === to) return withinArea(path, target, specifier)
  if (specifier.startsWith('./') && from !== '(root)') return `${specifier}: import across folders as @/folder/file`
  if (item.isTypeOnly && MAY_IMPORT_TYPES[from]?.includes(to)) return undefined
  const allowed = MAY_IMPORT[from]
  if (allowed === undefined) return `${from}/ has no row in the table of who may import whom`
  return allowed.includes(to) ? undefined : `${from} may not import ${to} (${specifier})`
}

function withinArea(path: string, target: string, specifier: string): string | undefined {
  if (dirname(path) === dirname(target)) {
    return specifier.startsWith('@/') ? `${specifier}: import inside a folder as ./file` : undefined
  }
  const [from, to] = [formatFolder(path), formatFolder(target)]
  if (from !== undefined && to !== undefined && from !== to) return `format ${from} may not import format ${to}`
  return undefined
}

/** The path of a file of our own that `specifier` names, without its extension; undefined for packages. */
function resolveLocal(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('@/')) return `src/${specifier.slice(2)}`
  return specifier.startsWith('.') ? join(dirname(path), specifier) : undefined
}

/** The row of the table that a path belongs to. */
function areaOf(path: string): string {
  const parts = path.split('/')
  if (parts.length > 2) return parts[1] ?? ''
  const name = (parts[1] ?? '').replace(/\.\w+$/, '')
  return name === 'app' || name === 'config' ? name : '(root)'
}

function formatFolder(path: string): string | undefined {
  return /^src\/formats\/([^/]+)\//.exec(path)?.[1]
}

function localTargets(source: Source, sources: readonly Source[]): string[] {
  const paths = new Set(sources.map((other) => other.path))
  return source.imports.flatMap(({ specifier }) => {
    const base = resolveLocal(source.path, specifier)
    const found = [base, `${base}.ts`, `${base}.tsx`, `${base}/index.ts`].find((path) => path && paths.has(path))
    return found ? [found] : []
  })
}
