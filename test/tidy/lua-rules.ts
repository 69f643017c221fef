/**
 * Rules for Lua files as parts of scripts. A file's header lists the names that it takes from its preludes, since Lua imports nothing.
 * The prelude of all scripts lists who reads and writes what in the store, since Redis keeps no schema.
 */
import type { Violation } from './source'

/** `name` is the file's, without its ending. */
export type LuaFile = { name: string; text: string }
/** A script as the store runs it: the text of its file behind the texts put in front. */
type ComposedScript = { name: string; text: string }
export type TypeScriptFile = { path: string; text: string }

/** What the ledger names in its store (store/names.ts); each stands by its name in the line of KEYS. */
const THINGS = ['meta', 'account', 'key', 'hold', 'deadlines', 'records', 'recent', 'credited', 'budgets'] as const
type Thing = (typeof THINGS)[number]

/** Of one line, what follows the label. */
const MAX_CHARS = 115
const LABELS = { needs: 'NEEDS', before: 'BEFORE', shared: 'SHARED' } as const
/** The first argument of a command, or what a stream is called: TypeScript that goes to the store without a script. */
const DIRECT = new RegExp(`(?:\\.\\w+\\(|\\bstream(?::| =) )\\s*\\w*?(${THINGS.join('|')})Name\\b`, 'gi')

/** Checks every file of `scripts`: what is put in front of it, and the last lines of its header. */
export function checkParts(
  files: readonly LuaFile[],
  scripts: readonly ComposedScript[],
  typescript: readonly TypeScriptFile[],
): Violation[] {
  const parts = files.map((file) => readPart(file, scripts))
  const direct = typescript.map(({ path, text }) => ({
    name: path.split('/').at(-1) ?? '',
    things: directThings(text),
  }))
  return parts.flatMap((part) => {
    const expected = headerOf(part, parts, direct)
    const actual = linesAfter(part.text)
    const isSaid = expected.join('\n') === actual.join('\n')
    const header = isSaid ? [] : [`the header ends in\n${expected.join('\n')}`]
    return [...orderComplaints(part, parts), ...header].map((detail) => violation(part, detail))
  })
}

type Part = LuaFile & {
  code: string
  /** What others may use: what is local to the whole file. */
  defines: Set<string>
  /** What stands in front of it, for a script; undefined for a file that stands in front of scripts. */
  front: string | undefined
  /** The scripts that it stands in front of. */
  before: string[]
  things: Thing[]
}

function readPart({ name, text }: LuaFile, scripts: readonly ComposedScript[]): Part {
  const code = text
    .split('\n')
    .map((line) => line.replace(/--.*$/, '').replace(/'[^']*'/g, "''"))
    .join('\n')
  const own = scripts.find((script) => script.name === name)
  const defined = code.matchAll(/^local (?:function )?(\w+(?:, \w+)*)/gm)
  const using = scripts.filter((script) => script !== own && script.text.includes(text))
  const before = [...new Set(using.map((script) => script.name))]
  return {
    ...{ name, text, code, before },
    defines: new Set([...defined].flatMap(([, names = '']) => names.split(', '))),
    front: own?.text.slice(0, -text.length),
    things: own ? thingsOfKeys(text) : [],
  }
}

function thingsOfKeys(text: string): Thing[] {
  const [keys = ''] = /^-- KEYS[\s\S]*?(?=^-- ARGV)/m.exec(text) ?? []
  return THINGS.filter((thing) => new RegExp(`\\b${thing}s?\\b`).test(keys))
}

function directThings(text: string): Thing[] {
  const found = new Set([...text.matchAll(DIRECT)].map(([, thing = '']) => thing.toLowerCase()))
  return THINGS.filter((thing) => found.has(thing))
}

/** What `part` uses of each of the others. */
function needsOf(part: Part, parts: readonly Part[]): Map<Part, string[]> {
  const words = new Set([...part.code.matchAll(/(?<![.:\w])[A-Za-z_]\w*/g)].map(([word]) => word))
  const others = parts.filter((other) => other !== part && other.front === undefined)
  const used = others.map((other): [Part, string[]] => [
    other,
    [...other.defines].filter((name) => words.has(name) && !part.defines.has(name)),
  ])
  return new Map(used.filter(([, names]) => names.length > 0))
}

/** Everything that has to stand in front of `part`, the needs of its needs included. */
function allNeeds(part: Part, parts: readonly Part[]): Set<Part> {
  const all = new Set<Part>()
  const walk = (one: Part) => {
    for (const need of needsOf(one, parts).keys()) {
      if (all.has(need)) continue
      all.add(need)
      walk(need)
    }
  }
  walk(part)
  return all
}

function orderComplaints(part: Part, parts: readonly Part[]): string[] {
  const text = part.front
  if (text === undefined) return []
  const positions = new Map(parts.map((other) => [other, other === part ? -1 : text.indexOf(other.text)]))
  const present = [...positions].filter(([, position]) => position >= 0).map(([other]) => other)
  const needed = allNeeds(part, parts)
  const missing = [...needed].filter((need) => !present.includes(need))
  // The prelude stands in front of every script.
  const idle = present.filter((other) => !needed.has(other) && positions.get(other) !== firstPosition(text))
  const late = present.flatMap((other) =>
    [...needsOf(other, parts).keys()]
      .filter((need) => (positions.get(need) ?? -1) > (positions.get(other) ?? -1))
      .map((need) => `${need.name} stands behind ${other.name}, which needs it`),
  )
  return [
    ...missing.map((need) => `needs ${need.name}, which is not put in front of it`),
    ...idle.map((other) => `${other.name} is put in front of it for nothing`),
    ...late,
  ]
}

/** Where the text behind the shebang begins. */
function firstPosition(text: string): number {
  return text.indexOf('\n') + 1
}

/** The lines that the header has to end in. */
function headerOf(part: Part, parts: readonly Part[], direct: readonly { name: string; things: Thing[] }[]): string[] {
  const depth = (other: Part) => allNeeds(other, parts).size
  const needs = [...needsOf(part, parts)]
    .sort(([one], [other]) => depth(one) - depth(other) || one.name.localeCompare(other.name))
    .map(([other, names]) => `${other.name}: ${names.join(' ')}`)
  const scripts = parts.filter(({ front }) => front !== undefined)
  const isInAll = part.front === undefined && part.before.length === scripts.length
  return [
    ...section(LABELS.needs, needs),
    ...section(LABELS.before, part.front === undefined ? [part.before.toSorted().join(' ')] : []),
    ...section(LABELS.shared, isInAll ? sharersOf([...parts, ...direct]) : []),
  ]
}

/** For each thing in the store, the scripts and files that read or write it. */
function sharersOf(all: readonly { name: string; things: Thing[] }[]): string[] {
  return THINGS.flatMap((thing) => {
    const names = all.filter(({ things }) => things.includes(thing)).map(({ name }) => name)
    return names.length > 0 ? [`${thing}: ${names.sort().join(' ')}`] : []
  })
}

function section(label: string, entries: readonly string[]): string[] {
  const lines = entries.flatMap(wrapped)
  return lines.map((line, index) => `-- ${(index === 0 ? label : '').padEnd(6)} ${line}`)
}

function wrapped(entry: string): string[] {
  const lines: string[] = []
  for (const word of entry.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + word.length < MAX_CHARS) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(line === undefined ? word : `  ${word}`)
  }
  return lines
}

/** The lines of the header from the first of ours on. */
function linesAfter(text: string): string[] {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  const header = lines.slice(0, end === -1 ? lines.length : end)
  const first = header.findIndex((line) => Object.values(LABELS).some((label) => line.startsWith(`-- ${label} `)))
  return first === -1 ? [] : header.slice(first)
}

function violation({ name, front }: Part, detail: string): Violation {
  return {
    path: `src/ledger/scripts/${front === undefined ? 'preludes/' : ''}${name}.lua`,
    line: 1,
    rule: 'lua',
    detail,
  }
}
