/** The rule that only ledger/ knows what its things are called in the store: whoever knows a name can write what it names. */
import type { Source, Violation } from './source'

/** The rooms of the ledger that nobody else enters; of store/, the connection is everybody's. */
const PRIVATE = /^@\/ledger\/(accounts|scripts|store)\//
const PUBLIC = '@/ledger/store/connection'
/** The beginning of a name: a shard in braces, or the map from a key's hash to whose it is. */
const NAME = /\{l(\$\{|\d|\*)|\bkeyhash:/

/** Finds outside ledger/ what imports a private file of it, or spells out a name of its own. */
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

/** What a literal says; of a template, with the sign of a hole where a value goes in. */
function textOf(fields: Record<string, unknown>): string {
  if (fields.type === 'StringLiteral') return String(fields.value)
  if (fields.type !== 'TemplateLiteral') return ''
  const quasis = fields.quasis as { value: { raw: string } }[]
  return quasis.map(({ value }) => value.raw).join('${')
}
