/** What a folder may look like: tests stand where their subject stands, no two names are nearly one. */
import { basename, dirname, extname } from 'node:path'
import type { Violation } from './source'

/** Folders of test/ that look at the whole, or that serve the others: src/ has none for them. */
const ACROSS = [
  'bench',
  'clients',
  'dashboard/screenshots',
  'deploy',
  'faults',
  'fixtures',
  'fuzz',
  'matrix',
  'money-bugs',
  'money-model',
  'public-prices',
  'runner',
  'security',
  'supply-chain',
  'support',
  'tidy',
  'whole-streams',
]

/** Finds folders of test/ that mirror none of src/, and lines of the list of exceptions that name no folder. `paths` are files. */
export function checkMirror(paths: readonly string[], across: readonly string[] = ACROSS): Violation[] {
  const folders = foldersOf(paths)
  const isAcross = (folder: string) => across.some((name) => `${folder}/`.startsWith(`test/${name}/`))
  const strangers = [...folders].filter((folder) => {
    return folder.startsWith('test/') && !isAcross(folder) && !folders.has(folder.replace(/^test/, 'src'))
  })
  const idle = across.filter((name) => !folders.has(`test/${name}`) || folders.has(`src/${name}`))
  return [
    ...strangers.map((path) => violation(path, 'tests stand in the folder that their subject has in src/')),
    ...idle.map((name) => violation(`test/${name}`, 'stands in the list of folders across without need')),
  ]
}

/** Finds files of one folder and kind whose names differ in spelling alone: capitals, hyphens, -ise and -ize, one or many. */
export function checkNames(paths: readonly string[]): Violation[] {
  const first = new Map<string, string>()
  return paths.flatMap((path) => {
    const key = `${dirname(path)}/${spelling(basename(path))}`
    const other = first.get(key)
    first.set(key, other ?? path)
    return other === undefined ? [] : [violation(path, `differs from ${basename(other)} in spelling alone`)]
  })
}

function spelling(name: string): string {
  const extension = extname(name)
  const [, stem = '', kind = ''] = /^(.*?)(\.test)?$/.exec(name.slice(0, name.length - extension.length)) ?? []
  const words = stem
    .toLowerCase()
    .replaceAll(/[-_.]/g, '')
    .replaceAll(/s(e|ed|er|ing|ation)/g, 'z$1')
  return words.replaceAll('our', 'or').replaceAll('ll', 'l').replace(/s$/, '') + kind + extension
}

function foldersOf(paths: readonly string[]): Set<string> {
  const folders = new Set<string>()
  for (let path of paths) {
    while (path.includes('/')) {
      path = dirname(path)
      folders.add(path)
    }
  }
  return folders
}

function violation(path: string, detail: string): Violation {
  return { path, line: 0, rule: 'folder', detail }
}
