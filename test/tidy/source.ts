/** Reads a TypeScript file into what the structure rules look at: imports, functions and syntax nodes. */
import { type ParserPlugin, parse } from '@babel/parser'

/** A rule that a file breaks; `line` is 0 if it is the file as a whole. */
export type Violation = { path: string; line: number; rule: string; detail: string }

export type Import = { specifier: string; line: number; isTypeOnly: boolean }

/** `ownLines` leaves out the lines of functions nested inside, because closures take the place of classes here; `lines` has them. */
type FunctionSize = { name: string; line: number; ownLines: number; lines: number }

export type SyntaxNode = { type: string; line: number; fields: Record<string, unknown> }

export type Source = {
  /** From the project's root, e.g. `src/lib/money.ts`. */
  path: string
  text: string
  lines: number
  imports: Import[]
  functions: FunctionSize[]
  /** Every node of the syntax tree, parents first. */
  nodes: SyntaxNode[]
}

const FUNCTION_TYPES = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ObjectMethod',
  'ClassMethod',
])

/** Parses `text`; throws a SyntaxError where it is not TypeScript. */
export function readSource(path: string, text: string): Source {
  const source: Source = { path, text, lines: countLines(text), imports: [], functions: [], nodes: [] }
  visit(parseProgram(path, text), source, undefined)
  return source
}

function parseProgram(path: string, text: string): AstNode {
  const typescript: ParserPlugin = ['typescript', { dts: path.endsWith('.d.ts') }]
  const plugins: ParserPlugin[] = path.endsWith('.tsx') ? [typescript, 'jsx'] : [typescript]
  try {
    return parse(text, { sourceType: 'module', plugins }).program as unknown as AstNode
  } catch (error) {
    throw new SyntaxError(`${path}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** The lines of a file as an editor numbers them, without the empty one after the last line feed. */
function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

type AstNode = { type: string; loc: { start: { line: number }; end: { line: number } } } & Record<string, unknown>

/** Returns how many lines nested functions take inside `node`. */
function visit(node: AstNode, source: Source, name: string | undefined): number {
  source.nodes.push({ type: node.type, line: node.loc.start.line, fields: node })
  recordImport(node, source)
  const isFunction = FUNCTION_TYPES.has(node.type)
  const slot = isFunction ? source.functions.length : -1
  const ownName = nameOf(node) ?? name
  if (isFunction)
    source.functions.push({ name: ownName ?? '(anonymous)', line: node.loc.start.line, ownLines: 0, lines: 0 })
  let nestedLines = 0
  for (const child of childrenOf(node)) nestedLines += visit(child, source, isFunction ? undefined : ownName)
  if (!isFunction) return nestedLines
  const allLines = node.loc.end.line - node.loc.start.line + 1
  const size = source.functions[slot]
  if (size) {
    size.ownLines = allLines - nestedLines
    size.lines = allLines
  }
  return allLines === 1 ? 0 : allLines
}

function* childrenOf(node: AstNode): Generator<AstNode> {
  for (const [field, value] of Object.entries(node)) {
    if (field === 'loc' || field.endsWith('Comments')) continue
    for (const item of Array.isArray(value) ? value : [value]) if (isNode(item)) yield item
  }
}

function isNode(value: unknown): value is AstNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'loc' in value
}

function nameOf(node: AstNode): string | undefined {
  const named = [node.id, node.key].find(isNode)
  return named && typeof named.name === 'string' ? named.name : undefined
}

function recordImport(node: AstNode, source: Source): void {
  const isStatement = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration'].includes(node.type)
  if (!isStatement && node.type !== 'ImportExpression' && node.type !== 'TSImportType') return
  const target = isNode(node.source) ? node.source : isNode(node.argument) ? node.argument : undefined
  const literal = target && isNode(target.literal) ? target.literal : target
  if (!literal || typeof literal.value !== 'string') return
  const isTypeOnly = node.importKind === 'type' || node.exportKind === 'type' || node.type === 'TSImportType'
  source.imports.push({ specifier: literal.value, line: node.loc.start.line, isTypeOnly })
}

/** The only export of a file: of a page its only component, else its only value, or its only type in a file of types. */
export function mainExport({ path, nodes }: Source): { node: SyntaxNode; doc: string | undefined } | undefined {
  const all = nodes.filter(({ type }) => type === 'ExportNamedDeclaration')
  const values = all.filter(({ fields }) => fields.exportKind !== 'type')
  const components = path.endsWith('.tsx') ? values.filter(isComponent) : []
  const [node, ...others] = [components, values, all].find((exported) => exported.length > 0) ?? []
  return node && others.length === 0 ? { node, doc: docOf(node) } : undefined
}

function isComponent({ fields }: SyntaxNode): boolean {
  const declaration = fields.declaration as { type?: string; id?: unknown } | null
  return declaration?.type === 'FunctionDeclaration' && /^[A-Z]/.test(identifier(declaration.id) ?? '')
}

/** The text of the doc comment in front of `node`, from its second asterisk on. */
export function docOf(node: SyntaxNode): string | undefined {
  const comments = (node.fields.leadingComments ?? []) as { type: string; value: string }[]
  return comments.findLast(({ type, value }) => type === 'CommentBlock' && value.startsWith('*'))?.value
}

/** The name that `node` is, if it is one. */
export function identifier(node: unknown): string | undefined {
  const { type, name } = (node ?? {}) as { type?: string; name?: unknown }
  return type === 'Identifier' && typeof name === 'string' ? name : undefined
}
