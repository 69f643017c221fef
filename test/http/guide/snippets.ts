/** The examples of the guide, as programs: every block of code that says `run` behind its language. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { EXAMPLE_ADDRESS } from '@/http/guide/render-page'
import { readGuide } from './guide-files'

type Snippet = {
  /** The page and the line where it begins. */
  place: string
  language: string
  /** Whether the gateway is to refuse what it asks. */
  isRefused: boolean
  code: string
}

const BLOCK = /^```(\w+) run( refused)?\n([\s\S]*?)^```$/gm
/** Below the root, so that packages are found. */
const FOLDER = join(import.meta.dir, '..', '..', '..', '.cache', `guide-${process.pid}`)

/** Those of one page. */
export async function snippetsOf(name: string): Promise<Snippet[]> {
  const text = await readGuide(name)
  return [...text.matchAll(BLOCK)].map(({ index, 1: language = '', 2: refused, 3: code = '' }) => {
    const line = text.slice(0, index).split('\n').length
    return { place: `${name}.md:${line}`, language, isRefused: refused !== undefined, code }
  })
}

/** Where programs find the gateway and, for the language of the name, what runs them. */
export type SnippetWorld = {
  url: string
  key: string
  managementKey: string
  operatorKey: string
  python: string | undefined
}

/** What a program has printed, and the code with which it ended. */
type SnippetEnd = { code: number; output: string }

/** Runs one; undefined if its language can't be had on this machine. */
export async function runSnippet(snippet: Snippet, world: SnippetWorld): Promise<SnippetEnd | undefined> {
  await mkdir(FOLDER, { recursive: true })
  const file = join(FOLDER, `${snippet.place.replaceAll(/\W/g, '-')}.${snippet.language}`)
  await writeFile(file, snippet.code.replaceAll(EXAMPLE_ADDRESS, world.url))
  // Refused by the gateway is failed, for curl as for libraries.
  await writeFile(join(FOLDER, '.curlrc'), snippet.isRefused ? 'silent\n' : 'silent\nfail-with-body\n')
  const command = commandOf(snippet.language, file, world)
  if (command === undefined) return undefined
  const child = Bun.spawn(command, {
    env: {
      ...BARE_ENVIRONMENT,
      ...{ SVC_API_KEY: world.key, SVC_MANAGEMENT_KEY: world.managementKey, SVC_OPERATOR_KEY: world.operatorKey },
      CURL_HOME: FOLDER,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, output: `${stdout}${stderr}` }
}

/** Removes the files of all. */
export async function removeSnippets(): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true })
}

function commandOf(language: string, file: string, { python }: SnippetWorld): string[] | undefined {
  if (language === 'sh') return ['sh', '-e', file]
  if (language === 'ts') return [process.execPath, file]
  return python === undefined ? undefined : [python, file]
}
