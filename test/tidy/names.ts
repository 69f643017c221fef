/** Which names a TypeScript file gives to others and which it takes from them, for the rule that every export has a taker. */
import type { Source, SyntaxNode } from './source'

/** A name that a file exports; `usedAtHome` where the file itself uses it beside exporting it. */
export type ExportedName = { name: string; line: number; isType: boolean; usedAtHome: boolean }

/** A name taken from the module `specifier`: by an import of any kind, or by handing it on with `export … from`. */
type TakenName = { specifier: string; name: string }

/** Stands for every name of a module, where it can't be seen which ones are meant. */
export const EVERY_NAME = '*'

type Fields = SyntaxNode['fields']

/** The names that `source` exports, those it hands on from others among them; `export *` gives none of its own. */
export function exportedNames(source: Source): ExportedName[] {
  const mentions = countMentions(source)
  return source.nodes.flatMap(({ type, line, fields }) => {
    if (type !== 'ExportNamedDeclaration') return []
    const isType = fields.exportKind === 'type'
    const declared = declaredNames(fieldsOf(fields.declaration)).map((name) => {
      return { name, line, isType, usedAtHome: (mentions.get(name) ?? 0) > 1 }
    })
    const specified = listOf(fields.specifiers).flatMap((item) => {
      const [name, local] = [nameOf(item.exported), nameOf(item.local)]
      // Beside its declaration the list itself mentions it.
      const usedAtHome = fields.source ? false : (mentions.get(local ?? '') ?? 0) > 2
      return name === undefined ? [] : [{ name, line, isType: isType || item.exportKind === 'type', usedAtHome }]
    })
    return [...declared, ...specified]
  })
}

/** The modules all of whose names `source` hands on with `export *`. */
export function starSpecifiers(source: Source): string[] {
  return source.nodes.flatMap(({ type, fields }) => {
    const specifier = type === 'ExportAllDeclaration' ? moduleOf(fields) : undefined
    return specifier === undefined ? [] : [specifier]
  })
}

/** The names that `source` takes from other modules. */
export function takenNames(source: Source): TakenName[] {
  const dynamic = dynamicallyTaken(source)
  return source.nodes.flatMap(({ type, fields }) => {
    const specifier = moduleOf(fields)
    if (specifier === undefined) return []
    return namesOf(type, fields, source, dynamic).map((name) => ({ specifier, name }))
  })
}

function namesOf(type: string, fields: Fields, source: Source, dynamic: Map<unknown, string[]>): string[] {
  switch (type) {
    case 'ImportDeclaration':
      return listOf(fields.specifiers).flatMap((item) => importedNames(item, source))
    case 'ExportNamedDeclaration':
      return listOf(fields.specifiers).map((item) => nameOf(item.local) ?? EVERY_NAME)
    case 'ImportExpression':
      return dynamic.get(fields) ?? [EVERY_NAME]
    case 'TSImportType':
      return [leftmostName(fields.qualifier) ?? EVERY_NAME]
    default:
      return []
  }
}

function importedNames(item: Fields, source: Source): string[] {
  if (item.type === 'ImportDefaultSpecifier') return ['default']
  if (item.type === 'ImportSpecifier') return [nameOf(item.imported) ?? EVERY_NAME]
  return membersOf(
    nameOf(item.local) ?? '',
    source.nodes.map((node) => node.fields),
  )
}

/** What is taken of the namespace `local` inside `nodes`: its members where it is only looked into, else every name. */
function membersOf(local: string, nodes: readonly Fields[]): string[] {
  const members: string[] = []
  let mentions = 0
  for (const node of nodes) {
    if (isNamed(node) && node.name === local) mentions += 1
    const [owner, member] =
      node.type === 'TSQualifiedName'
        ? [node.left, node.right]
        : [node.object, node.computed ? undefined : node.property]
    if (nameOf(owner) === local && nameOf(member) !== undefined) members.push(nameOf(member) as string)
  }
  // One mention is the declaration of the namespace itself.
  return members.length === mentions - 1 ? members : [EVERY_NAME]
}

/** By each `import()` expression the names that are taken from what it gives, where that can be seen. */
function dynamicallyTaken(source: Source): Map<unknown, string[]> {
  const taken = new Map<unknown, string[]>()
  for (const { type, fields } of source.nodes) {
    if (type === 'VariableDeclarator') {
      const names = patternKeys(fieldsOf(fields.id))
      if (names) taken.set(awaitedImport(fields.init), names)
    }
    if (type === 'MemberExpression' && !fields.computed) {
      const name = nameOf(fields.property)
      if (name !== undefined) taken.set(awaitedImport(fields.object), [name])
    }
    if (type === 'CallExpression') {
      const names = namesInThen(fields)
      if (names) taken.set(fieldsOf(fieldsOf(fields.callee).object), names)
    }
  }
  return taken
}

/** The names that the callback of `import(…).then(callback)` takes. */
function namesInThen(call: Fields): string[] | undefined {
  const callee = fieldsOf(call.callee)
  if (nameOf(callee.property) !== 'then' || fieldsOf(callee.object).type !== 'ImportExpression') return undefined
  const callback = listOf(call.arguments)[0] ?? {}
  const parameter = listOf(callback.params)[0] ?? {}
  const local = nameOf(parameter)
  if (local === undefined) return patternKeys(parameter)
  return membersOf(local, descendants(callback))
}

function awaitedImport(node: unknown): unknown {
  const awaited = fieldsOf(node)
  const argument = fieldsOf(awaited.argument)
  return awaited.type === 'AwaitExpression' && argument.type === 'ImportExpression' ? argument : undefined
}

function patternKeys(pattern: Fields): string[] | undefined {
  if (pattern.type !== 'ObjectPattern') return undefined
  return listOf(pattern.properties).map((property) => nameOf(property.key) ?? EVERY_NAME)
}

function declaredNames(declaration: Fields): string[] {
  if (declaration.type !== 'VariableDeclaration') return [nameOf(declaration.id)].filter((name) => name !== undefined)
  return listOf(declaration.declarations).flatMap((item) => {
    const name = nameOf(item.id)
    if (name !== undefined) return [name]
    return listOf(fieldsOf(item.id).properties).flatMap((property) => nameOf(property.value) ?? [])
  })
}

/** How many places of the file mention each name; the two nodes of a shorthand such as `{ name }` are one place. */
function countMentions(source: Source): Map<string, number> {
  const places = new Map<string, Set<unknown>>()
  for (const { fields } of source.nodes) {
    if (isNamed(fields)) places.set(fields.name, (places.get(fields.name) ?? new Set()).add(fields.start))
  }
  return new Map([...places].map(([name, starts]) => [name, starts.size]))
}

function descendants(node: Fields): Fields[] {
  const inside = Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]))
  return [node, ...inside.filter(isNode).flatMap(descendants)]
}

function isNode(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && 'type' in value && 'loc' in value
}

function isNamed(node: Fields): node is Fields & { name: string } {
  return (node.type === 'Identifier' || node.type === 'JSXIdentifier') && typeof node.name === 'string'
}

function leftmostName(node: unknown): string | undefined {
  const fields = fieldsOf(node)
  return fields.type === 'TSQualifiedName' ? leftmostName(fields.left) : nameOf(fields)
}

/** The name of an identifier, or the text of a quoted one. */
function nameOf(node: unknown): string | undefined {
  const fields = fieldsOf(node)
  if (isNamed(fields)) return fields.name
  return fields.type === 'StringLiteral' && typeof fields.value === 'string' ? fields.value : undefined
}

function moduleOf(fields: Fields): string | undefined {
  const target = fieldsOf(fields.source ?? (fields.type === 'TSImportType' ? fields.argument : undefined))
  const literal = target.literal ? fieldsOf(target.literal) : target
  return typeof literal.value === 'string' ? literal.value : undefined
}

function fieldsOf(node: unknown): Fields {
  return isNode(node) ? node : {}
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isNode) : []
}
