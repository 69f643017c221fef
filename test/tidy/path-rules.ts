/** What our documents and comments say of our own files: every path, link and command that they mention exists. */
import { basename, dirname, join } from 'node:path'
import type { Violation } from './source'

/** What a mention may mean: the files of the project by their paths from its root, and the names of package.json's scripts. */
type Project = { files: readonly string[]; scripts: readonly string[] }

type Mention = { text: string; line: number }

/** A path that begins with a folder of the root, wherever it is written. No address, no package, no part of another path. */
const ROOTED = /(?<![\w@/.-])(?:src|test|faults|bench|docs|config|patches)\/[\w./<>*{},@-]*[\w/>*}]/g
/** The name of a file, with or without folders before it. */
const FILE_NAME = /(?<![\w@/.:*-])(?:[\w<>*{},-]+\/)*[\w<>*{},-][\w<>*{},.-]*\.(?:tsx?|lua|sql|md)\b(?![\w/.-]*\w)/g
const BACKTICKED = /`([\w<>*{},.-]+\/[\w<>*{},./-]*)`/g
/** A folder by its name alone. */
const FOLDER_NAME = /`([\w-]+\/)`/g
const LINK = /\]\(([^)\s]+)\)/g
const COMMAND = /\bbun run ([a-z][\w:-]*)/g
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm
const LUA_COMMENT = /--.*$/gm

/** Checks a document in Markdown. Links count from its own folder, any other path from the root or from src/. */
export function checkDocument(path: string, text: string, project: Project): Violation[] {
  const lookup = lookupOf(project)
  const dead = mentions(text, LINK, 1).filter(({ text }) => {
    return !/^(?:[a-z]+:|#)/.test(text) && !lookup.isThere(join(dirname(path), text.replace(/#.*/, '')))
  })
  return [
    ...checkMentions(path, text, project, lookup),
    ...dead.map(({ text, line }) => violation(path, line, `${text}: the link leads nowhere`)),
  ]
}

/** Checks the comments of a source, in which a path may also count from the source's own folder. */
export function checkComments(path: string, text: string, project: Project): Violation[] {
  let comments = ''
  for (const match of text.matchAll(path.endsWith('.lua') ? LUA_COMMENT : COMMENT)) {
    // What is no comment becomes empty, so that lines keep their numbers.
    comments += text.slice(comments.length, match.index).replaceAll(/[^\n]/g, ' ') + match[0]
  }
  return checkMentions(path, comments, project, lookupOf(project))
}

function checkMentions(path: string, text: string, project: Project, lookup: Lookup): Violation[] {
  // In backticks a path that begins with a folder of src/ is ours; anything else with a slash may be anything.
  const short = mentions(text, BACKTICKED, 1).filter(({ text }) => lookup.isThere(`src/${text.split('/')[0]}`))
  const folders = mentions(text, FOLDER_NAME, 1)
  const paths = [...mentions(text, ROOTED), ...mentions(text, FILE_NAME), ...short, ...folders]
  const unknown = paths.filter((mention) => !lookup.isMeant(mention.text, path))
  const idle = mentions(text, COMMAND, 1).filter((mention) => !project.scripts.includes(mention.text))
  const details = [
    ...unknown.map(({ text, line }) => ({ line, detail: `${text}: there is no such file or folder` })),
    ...idle.map(({ text, line }) => ({ line, detail: `bun run ${text}: there is no such script` })),
  ]
  const once = new Map(details.map((item) => [`${item.line} ${item.detail}`, item]))
  return [...once.values()].map(({ line, detail }) => violation(path, line, detail))
}

type Lookup = {
  /** Whether this path from the root is a file or a folder. */
  isThere(path: string): boolean
  /** Whether the file at `from` can mean something by `mention`. */
  isMeant(mention: string, from: string): boolean
}

const lookups = new WeakMap<Project, Lookup>()

/** One for each project: it is asked by every file. */
function lookupOf(project: Project): Lookup {
  const known = lookups.get(project) ?? createLookup(project.files)
  lookups.set(project, known)
  return known
}

function createLookup(files: readonly string[]): Lookup {
  const names = new Set(files.map((path) => basename(path)))
  const places = new Set<string>()
  for (const file of files) {
    places.add(file)
    // An import's way to write a file.
    places.add(file.replace(/\.tsx?$/, ''))
    for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
      places.add(folder)
      names.add(basename(folder))
    }
  }
  const isThere = (path: string) => places.has(path.replace(/\/$/, ''))

  function isMeant(mention: string, from: string): boolean {
    const path = mention.replace(/\/$/, '')
    const meanings = [path, `src/${path}`, join(dirname(from), path)]
    if (!/[<*{]/.test(path)) return meanings.some(isThere) || names.has(path)
    const patterns = meanings.map(patternOf)
    return [...places].some((place) => patterns.some((pattern) => pattern.test(place)))
  }

  return { isThere, isMeant }
}

/** `<name>` stands for any name, `*` for any part of one, `{a,b}` for each of these. */
function patternOf(path: string): RegExp {
  const source = path
    .replaceAll(/[.+^$()|[\]\\]/g, '\\$&')
    .replaceAll(/<[^>]*>|\*+/g, '[^/]*')
    .replaceAll(/\{([^}]*)\}/g, (_, list: string) => `(?:${list.replaceAll(',', '|')})`)
  return new RegExp(`^${source}$`)
}

function mentions(text: string, pattern: RegExp, group = 0): Mention[] {
  return [...text.matchAll(pattern)].map((match) => {
    return { text: match[group] ?? '', line: text.slice(0, match.index).split('\n').length }
  })
}

function violation(path: string, line: number, detail: string): Violation {
  return { path, line, rule: 'path', detail }
}
