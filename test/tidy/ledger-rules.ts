/** Rules of the ledger: only ledger/ knows what its things are called in the store, and one file joins it with its history. */
import type { Source, Violation } from './source'

/** The rooms of the ledger that nobody else enters; of store/, the connection is everybody's. */
const PRIVATE = /^@\/ledger\/(accounts|scripts|store)\//
const PUBLIC = '@/ledger/store/connection'
const ASSEMBLY = 'src/accounts/assemble-ledger.ts'
/** The beginning of a name: a shard in braces, or the map from a key's hash to whose it is. */
const NAME = /\{l(\$\{|\d|\*)|\bkeyhash:/

/** Finds outside ledger/ what imports a private file of it, or spells out a name of its own: who knows a name can write there. */
export function checkLedgerNames(source: Source): Violation[] {
  const { path } = source
  if (!path.startsWith('src/') || path.startsWith('src/ledger/')) return []
  const imports = source.imports
    .filter(({ specifier }) => PRIVATE.test(specifier) && specifier !== PUBLIC)
    .map(({ line, specifier }) => ({ line, detail: `${specifier} is private to ledger/` }))
  const texts = source.nodes
    .filter((node) => NAME.test(textOf(node.fields)))
    .map(({ line }) => ({ line, detail: 'only ledger/ builds a name of its store' }))
  return [...imports, ...texts].map((found) => ({ path, rule: 'ledger', ...found }))
}

/** Finds whoever builds a ledger by hand. Tests of the ledger do, with a history in memory. */
export function checkLedgerAssembly(source: Source): Violation[] {
  const { path } = source
  if (path === ASSEMBLY || /^(src|test)\/ledger\//.test(path)) return []
  return source.nodes
    .filter(({ type, fields }) => type === 'ImportSpecifier' && nameOf(fields.imported) === 'createLedger')
    .map(({ line }) => ({ path, line, rule: 'ledger', detail: 'a ledger is built by assembleLedger' }))
}

function nameOf(node: unknown): unknown {
  return (node as { name?: unknown }).name
}

/** What a literal says; of a template, with the sign of a hole where a value goes in. */
function textOf(fields: Record<string, unknown>): string {
  if (fields.type === 'StringLiteral') return String(fields.value)
  if (fields.type !== 'TemplateLiteral') return ''
  const quasis = fields.quasis as { value: { raw: string } }[]
  return quasis.map(({ value }) => value.raw).join('${')
}
