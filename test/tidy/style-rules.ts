/** Sizes, documentation and forbidden syntax of one TypeScript file. */
import { docOf, identifier, mainExport, type Source, type SyntaxNode, type Violation } from './source'

const MAX_FUNCTION_LINES = 70
/** With the closures inside. A function of src/ that needs more is a class, or two things. */
const MAX_CLOSURE_LINES = 150

/** The only files that may look at the process's environment: in src/ the settings alone. */
const ENVIRONMENT_READERS = new Set([
  'src/config/config.ts',
  'test/support/bare-environment.ts',
  // How long the model is tried is chosen where the test is started.
  'test/ledger/model.test.ts',
  // Both stand in for a gateway's own process.
  'test/boot/embedded/launched.ts',
  'faults/world/shifted-clock.ts',
])
const ABBREVIATIONS = new Set(
  'req res resp opts cfg conf ctx msg err cb fn tmp num str idx len buf evt btn val obj arr el prev cur acc'.split(' '),
)
const FORBIDDEN_TEXT: readonly [pattern: RegExp, detail: string][] = [
  [/\b(TODO|FIXME|XXX|HACK)\b/, 'finish it or leave it out'],
  [/@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-disable/, 'no checker is switched off'],
]

/** Checks everything about `source` that needs no other file. */
export function checkStyle(source: Source): Violation[] {
  return [...checkSizes(source), ...checkText(source), ...source.nodes.flatMap((node) => checkNode(node, source))]
}

/** A chapter of tests is no function: its size is that of the file it divides. */
const CHAPTER = /^describe(\.\w+\(.*\))?\(/

function checkSizes(source: Source): Violation[] {
  const violations: Violation[] = []
  const texts = source.text.split('\n')
  for (const { name, line, ownLines, lines } of source.functions) {
    const isChapter = source.path.endsWith('.test.ts') && CHAPTER.test(texts[line - 1]?.trim() ?? '')
    if (ownLines > MAX_FUNCTION_LINES && !isChapter)
      violations.push(violation(source, line, 'size', `${name} has ${ownLines} lines; at most ${MAX_FUNCTION_LINES}`))
    if (lines > MAX_CLOSURE_LINES && source.path.startsWith('src/')) {
      const detail = `${name} has ${lines} lines with its closures; at most ${MAX_CLOSURE_LINES}`
      violations.push(violation(source, line, 'size', detail))
    }
  }
  return violations
}

function checkText(source: Source): Violation[] {
  // The rules name what they forbid.
  if (source.path.startsWith('test/tidy/')) return []
  return source.text.split('\n').flatMap((text, index) =>
    FORBIDDEN_TEXT.flatMap(([pattern, detail]) => {
      const match = pattern.exec(text)
      return match ? [violation(source, index + 1, 'text', `${match[0]}: ${detail}`)] : []
    }),
  )
}

function checkNode(node: SyntaxNode, source: Source): Violation[] {
  const detail =
    syntaxComplaint(node, source.path) ?? abbreviationComplaint(node) ?? documentationComplaint(node, source)
  return detail === undefined ? [] : [violation(source, node.line, 'syntax', detail)]
}

function syntaxComplaint(node: SyntaxNode, path: string): string | undefined {
  switch (node.type) {
    case 'MemberExpression':
      return memberComplaint(node, path)
    case 'VariableDeclarator':
      return schemaComplaint(node)
    default:
      return undefined
  }
}

/** A schema is a type that exists at run time, so it is written as types are. */
function schemaComplaint({ fields }: SyntaxNode): string | undefined {
  const name = identifier(fields.id)
  const { callee } = (fields.init ?? {}) as { callee?: { object?: unknown; property?: unknown } }
  const builder = identifier(callee?.object)
  const isSchema = (builder === 'Type' || builder === 't') && /^[A-Z]/.test(identifier(callee?.property) ?? '')
  if (name === undefined || !isSchema || /^[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*$/.test(name)) return undefined
  return `${name}: a schema is written like a type, in PascalCase`
}

function memberComplaint(node: SyntaxNode, path: string): string | undefined {
  const [object, property] = [identifier(node.fields.object), identifier(node.fields.property)]
  if (object === 'Promise' && property === 'race' && !path.startsWith('src/lib/')) {
    return 'wait with a limit through lib/deadline, which leaves no timer behind'
  }
  const isEnvironment = property === 'env' && (object === 'process' || object === 'Bun' || object === undefined)
  const isMeta = (node.fields.object as { type?: string }).type === 'MetaProperty'
  if (isEnvironment && (object !== undefined || isMeta) && !ENVIRONMENT_READERS.has(path)) {
    return 'only src/config/ reads the environment'
  }
  return undefined
}

/** Looks at the names that code gives: parameters, variables and functions. */
function abbreviationComplaint(node: SyntaxNode): string | undefined {
  const named =
    node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration' ? [node.fields.id] : node.fields.params
  for (const candidate of Array.isArray(named) ? named : []) {
    const name = identifier(candidate)
    if (name !== undefined && ABBREVIATIONS.has(name)) return `${name}: write the word out`
  }
  return undefined
}

function documentationComplaint(node: SyntaxNode, source: Source): string | undefined {
  if (node.type !== 'ExportNamedDeclaration' || docOf(node) !== undefined) return undefined
  const declaration = node.fields.declaration as { type?: string; id?: unknown } | null
  if (declaration?.type !== 'FunctionDeclaration') return undefined
  // The header of its file is the comment of a main export.
  if (mainExport(source)?.node === node) return undefined
  return `${identifier(declaration.id)}: an exported function has a doc comment`
}

function violation(source: Source, line: number, rule: string, detail: string): Violation {
  return { path: source.path, line, rule, detail }
}
