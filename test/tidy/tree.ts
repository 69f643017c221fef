/** The project's own TypeScript files, read once for every rule, and the file that an import names. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readSource, type Source } from './source'

const ROOT = join(import.meta.dir, '..', '..')
/** The folders that hold our code. */
export const TREE_NAMES = ['src', 'test', 'faults', 'bench'] as const

type Tree = (typeof TREE_NAMES)[number]

/** Every file of ours below `folder`, by its path from the project's root, in order. */
export function listFiles(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && !/\bnode_modules\b/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
  return files.map((path) => path.slice(ROOT.length + 1)).sort()
}

/** The files that lie in the project's root. */
export function listRootFiles(): string[] {
  const entries = readdirSync(ROOT, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}

/** What `bun run` knows in this project. */
export function readScriptNames(): string[] {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
  return Object.keys(scripts)
}

/** The text of the file at `path`, which counts from the project's root. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** The TypeScript of each of our trees. */
export function readTrees(): Record<Tree, Source[]> {
  return Object.fromEntries(TREE_NAMES.map((tree) => [tree, readTree(tree)])) as Record<Tree, Source[]>
}

function readTree(tree: Tree): Source[] {
  return listFiles(tree)
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readSource(path, readText(path)))
}

/** The path of a file of our own that `specifier` names, without its extension; undefined for packages. */
export function resolveLocal(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(path), specifier)
  const [, alias, rest] = /^@(test|faults|bench)?\/(.+)$/.exec(specifier) ?? []
  return rest === undefined ? undefined : `${alias ?? 'src'}/${rest}`
}

/** The one of `paths` that `specifier` means in the file at `path`. */
export function findTarget(path: string, specifier: string, paths: ReadonlySet<string>): string | undefined {
  const base = resolveLocal(path, specifier)
  return [base, `${base}.ts`, `${base}.tsx`, `${base}/index.ts`].find((name) => name !== undefined && paths.has(name))
}
