/** Who may import whom: the table of docs/ARCHITECTURE.md, and how an import is written. */
import { dirname } from 'node:path'
import type { Import, Source, Violation } from './source'
import { resolveLocal } from './tree'

/** The wing of people: its own door, and behind it those who buy, sign in, look at usage and watch over others. */
const CONSOLE = ['console/administration', 'console/orders', 'console/auth', 'console/usage-views']
/** What one request goes through, each step knowing only those that come after it in this list. */
const STEPS = [
  'gateway/media',
  'gateway/embed',
  'gateway/relay',
  'gateway/attempt',
  'gateway/charge',
  'gateway/hold',
  'gateway/signatures',
]
const SERVICES = ['accounts', 'usage', 'stored-responses', 'batches', 'upstream', 'routing']
const STORES = ['ledger', 'catalog', 'db']
const WIRE = ['dialects', 'formats', 'chat', 'limits', 'lib']
const DOMAIN = [...SERVICES, ...STORES, ...WIRE]

/**
 * What each folder of src/ may import beside itself and packages. `(root)` stands for the files directly in src/, such as
 * main.ts; of those, app.ts has a row of its own. A folder with a row of its own inside another (`console/http`) is a room
 * like any other.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  '(root)': ['cli', 'boot', 'boot/embedded', 'app', 'config', 'lib'],
  cli: ['boot', 'boot/embedded', 'config', 'people', ...CONSOLE, ...DOMAIN],
  boot: [
    'boot/embedded',
    'app',
    'config',
    'dashboard',
    'people',
    'console/http',
    'http',
    'gateway',
    ...STEPS,
    'telemetry',
    'metrics',
    ...CONSOLE,
    ...DOMAIN,
  ],
  'boot/embedded': ['lib'],
  app: ['console/http', 'people', 'http', ...WIRE],
  config: ['limits', 'lib'],
  // A slice has its subject's parts of cli/, console/http/ and dashboard/, which have those of other subjects.
  people: ['people/fields', 'cli', 'console/http', 'http', 'gateway', 'metrics', ...CONSOLE, ...DOMAIN],
  'people/fields': ['usage', 'lib'],
  'people/pages': ['people/fields', 'dashboard', 'lib'],
  'console/http': ['people', 'people/fields', 'http', 'gateway', 'metrics', ...CONSOLE, ...DOMAIN],
  'console/administration': ['console/orders', 'console/auth', ...DOMAIN],
  'console/orders': ['accounts', 'ledger', 'db', 'chat', 'lib'],
  'console/auth': ['accounts', 'ledger', 'db', 'chat', 'limits', 'lib'],
  'console/usage-views': ['ledger', 'db', 'chat', 'limits', 'lib'],
  http: ['gateway', 'telemetry', 'metrics', ...DOMAIN],
  gateway: [...STEPS, 'telemetry', ...DOMAIN],
  'gateway/embed': [...after('gateway/embed'), 'telemetry', 'metrics', 'upstream', 'routing', ...STORES, ...WIRE],
  'gateway/media': [...after('gateway/media'), 'telemetry', 'metrics', 'upstream', 'routing', ...STORES, ...WIRE],
  'gateway/relay': [...after('gateway/relay'), 'telemetry', 'metrics', 'upstream', 'routing', ...STORES, ...WIRE],
  'gateway/attempt': [...after('gateway/attempt'), 'telemetry', 'upstream', 'routing', 'catalog', ...WIRE],
  'gateway/charge': [...after('gateway/charge'), 'telemetry', 'metrics', ...STORES, ...WIRE],
  'gateway/hold': [...after('gateway/hold'), 'telemetry', 'metrics', 'routing', ...STORES, ...WIRE],
  'gateway/signatures': WIRE,
  telemetry: ['metrics', ...SERVICES, ...STORES, ...WIRE],
  metrics: [...SERVICES, ...STORES, ...WIRE],
  accounts: ['people/fields', ...STORES, ...WIRE],
  usage: ['ledger', 'db', ...WIRE],
  'stored-responses': ['db', ...WIRE],
  batches: ['ledger', 'db', ...WIRE],
  upstream: ['catalog', ...WIRE],
  routing: ['catalog', ...WIRE],
  ledger: WIRE,
  catalog: WIRE,
  db: ['ledger', ...WIRE],
  dialects: ['formats', 'chat', 'limits', 'lib'],
  formats: ['chat', 'lib'],
  chat: ['lib'],
  limits: [],
  lib: [],
  dashboard: ['people/pages', 'people/fields', 'lib'],
}

function after(step: string): string[] {
  return STEPS.slice(STEPS.indexOf(step) + 1)
}

/** Types that may be imported against the table: the pages hold what http/ answers. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  dashboard: ['console/http', 'people'],
  'people/pages': ['people'],
}

/** Checks how each import is written and that the table allows it. */
export function checkImports(source: Source): Violation[] {
  return source.imports.flatMap((item) => {
    const detail = complaint(source.path, item)
    return detail === undefined ? [] : [{ path: source.path, line: item.line, rule: 'import', detail }]
  })
}

function complaint(path: string, item: Import): string | undefined {
  const { specifier } = item
  if (specifier.includes('../')) return `${specifier}: import across folders as @/folder/file`
  if (/^@(test|faults|bench)\//.test(specifier)) return `${specifier}: the product does not import its tests`
  const target = resolveLocal(path, specifier)
  if (target === undefined) return undefined
  const [from, to] = [areaOf(path), areaOf(target)]
  if (from === to) return withinArea(path, target, specifier)
  if (to === 'formats' && isInsideFormat(target))
    return `${specifier}: outside formats/ only the index of a format is known`
  if (specifier.startsWith('./') && dirname(path) !== dirname(target) && from !== '(root)')
    return `${specifier}: import across folders as @/folder/file`
  if (item.isTypeOnly && MAY_IMPORT_TYPES[from]?.includes(to)) return undefined
  const allowed = MAY_IMPORT[from]
  if (allowed === undefined) return `${from}/ has no row in the table of who may import whom`
  return allowed.includes(to) ? undefined : `${from} may not import ${to} (${specifier})`
}

function withinArea(path: string, target: string, specifier: string): string | undefined {
  if (dirname(path) === dirname(target)) {
    return specifier.startsWith('@/') ? `${specifier}: import inside a folder as ./file` : undefined
  }
  return formatComplaint(path, target)
}

/** Formats don't know each other; inside one, its index joins two sides that don't know each other, and share what lies above. */
function formatComplaint(path: string, target: string): string | undefined {
  const [from, to] = [formatPlace(path), formatPlace(target)]
  if (to === undefined) return undefined
  if (from === undefined)
    return isInsideFormat(target) ? `${target}: only the index of a format is known outside it` : undefined
  if (from.format !== to.format) return `format ${from.format} may not import format ${to.format}`
  if (to.side === undefined || from.side === to.side || !isInsideFormat(path)) return undefined
  return `${from.side ?? 'what both sides share'} may not import ${to.side}: put it beside the two sides`
}

/** The row of the table that a path belongs to. */
function areaOf(path: string): string {
  const parts = path.split('/')
  const [, first = '', second = ''] = parts
  if (
    first === 'people' &&
    /\/(?:pages\/.+|(client|form|form-values|list|newer|pages|[\w-]+-page)(\.tsx?)?)$/.test(path)
  )
    return 'people/pages'
  if (first === 'people' && /\/fields(\.ts)?$/.test(path)) return 'people/fields'
  if (parts.length > 3 && `${first}/${second}` in MAY_IMPORT) return `${first}/${second}`
  if (parts.length > 2) return first
  return first.replace(/\.\w+$/, '') === 'app' ? 'app' : '(root)'
}

function formatPlace(path: string): { format: string; side: string | undefined } | undefined {
  const [, format, side] = /^src\/formats\/([^/]+)\/(?:(client-side|provider-side)\/)?/.exec(path) ?? []
  return format === undefined ? undefined : { format, side }
}

function isInsideFormat(path: string): boolean {
  return formatPlace(path) !== undefined && !/^src\/formats\/[^/]+\/index(\.ts)?$/.test(path)
}
