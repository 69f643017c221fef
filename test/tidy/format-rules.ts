/** A format is a folder: outside it and its route file nobody knows a format by its name, nor takes anything of its own. */
import { FORMAT_NAMES } from '@/chat/format-name'
import type { Source, SyntaxNode, Violation } from './source'

const NAMES: ReadonlySet<unknown> = new Set(FORMAT_NAMES)
/** The one place that lists the names. */
const LIST = 'src/chat/format-name.ts'
/** Further routes of one format. */
const OTHER_ROUTES = ['audio', 'images', 'rerank']
const ROUTE_FILES: ReadonlySet<string> = new Set(
  [...FORMAT_NAMES, ...OTHER_ROUTES].map((name) => `src/http/routes/${name}.ts`),
)

/**
 * Finds places that would have to change with every new format: a comparison with a name, a case, a table by name, a look-up.
 * The value of an object's field may be a name, because a label or the name of a request's field (`messages`) decides nothing.
 */
export function checkFormats(source: Source): Violation[] {
  const { path } = source
  // A dialect is a way to reach certain formats, and says which.
  const isTheirs = path.startsWith('src/formats/') || path.startsWith('src/dialects/')
  if (path === LIST || ROUTE_FILES.has(path) || isTheirs) return []
  const labels = new Set(source.nodes.flatMap(({ type, fields }) => (type === 'ObjectProperty' ? [fields.value] : [])))
  const named = source.nodes.filter((node) => NAMES.has(textOf(node)) && !labels.has(node.fields))
  const taken = source.imports.filter(({ specifier }) => FORMAT_NAMES.some((name) => isOf(specifier, name)))
  return [
    ...named.map((node) => violation(path, node.line, `${textOf(node)}: ask the format instead of knowing its name`)),
    ...taken.map(({ line, specifier }) =>
      violation(path, line, `${specifier}: a format's own; Format says it for all`),
    ),
  ]
}

function textOf({ type, fields }: SyntaxNode): unknown {
  if (type === 'StringLiteral') return fields.value
  const [quasi, ...more] = type === 'TemplateLiteral' ? (fields.quasis as { value: { cooked: string } }[]) : []
  return more.length === 0 ? quasi?.value.cooked : undefined
}

function isOf(specifier: string, name: string): boolean {
  return `${specifier}/`.startsWith(`@/formats/${name}/`)
}

function violation(path: string, line: number, detail: string): Violation {
  return { path, line, rule: 'format', detail }
}
