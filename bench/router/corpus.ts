/** Gets the files of a public collection: from a clone under `.cache/router`, which is made at the first need, at exactly one commit. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import type { Example, SourceFiles } from './example'
import type { Place, Source } from './sources'

const CLONES = '.cache/router'

/** The prompts of `source`, and the digest of the files that they were read from. */
export async function loadSource(source: Source): Promise<{ examples: Example[]; digest: string }> {
  const files = new Map(await filesOf(source))
  if (source.beside) for (const [path, content] of await filesOf(source.beside)) files.set(path, content)
  const examples = source
    .read(files)
    .filter(({ text }) => text.trim().length > 1)
    .map((example) => ({ ...example, source: source.name }))
  return { examples, digest: digestOf(files) }
}

async function cloneOf({ repository, commit }: Place): Promise<string> {
  const folder = `${CLONES}/${repository.replace('/', '+')}`
  if (existsSync(folder)) return folder
  mkdirSync(folder, { recursive: true })
  await git(folder, ['init', '--quiet', '--bare'])
  await git(folder, ['fetch', '--quiet', '--depth=1', `https://github.com/${repository}.git`, commit])
  return folder
}

async function filesOf(place: Place): Promise<SourceFiles> {
  const { commit, files } = place
  const clone = await cloneOf(place)
  const listed = (await git(clone, ['ls-tree', '-r', '-z', '--name-only', commit])).toString('utf8')
  const paths = listed.split('\0').filter((path) => files.test(path))
  const contents = new Map<string, Buffer>()
  for (const path of paths.sort()) contents.set(path, await git(clone, ['show', `${commit}:${path}`]))
  return contents
}

function digestOf(files: SourceFiles): string {
  const hash = createHash('sha256')
  for (const [path, content] of files) hash.update(`${path}\n${content.length}\n`).update(content)
  return hash.digest('hex')
}

async function git(folder: string, words: string[]): Promise<Buffer> {
  const child = Bun.spawn(['git', '--git-dir', folder, ...words], { stdout: 'pipe', stderr: 'pipe' })
  const [output, complaint] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`git ${words.join(' ')} in ${folder}: ${complaint}`)
  return Buffer.from(output)
}
