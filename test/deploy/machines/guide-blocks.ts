/** The blocks of the page on deployment, and how they are run here: word for word, with this machine's places for those of the page. */
import { readGuide } from '@test/http/guide/guide-files'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'

const page = await readGuide('deploy')

/** The only block with these words behind its fence. Throws if there is none. */
export function blockOf(words: string): string {
  const found = [...page.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].filter((block) => block[1] === words)
  if (found.length !== 1 || !found[0]) throw new Error(`the page has ${found.length} blocks "${words}"`)
  return found[0][2] ?? ''
}

/** Puts each of the right-hand texts in the place of its left-hand one, longest first. */
export function inPlace(text: string, places: Record<string, string>): string {
  const names = Object.keys(places).sort((one, other) => other.length - one.length)
  const pattern = new RegExp(names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g')
  return text.replaceAll(pattern, (name) => places[name] ?? name)
}

type Ran = { stdout: string; stderr: string; code: number }

/** Runs a block as an operator's shell does, until it ends. */
export async function run(block: string, cwd: string, environment: Record<string, string> = {}): Promise<Ran> {
  const child = Bun.spawn(['timeout', '120', 'sh', '-e', '-c', block], {
    cwd,
    env: { ...BARE_ENVIRONMENT, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { stdout, stderr, code: await child.exited }
}

/** The same, and throws with all that was said where it fails. */
export async function runWell(block: string, cwd: string, environment: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr, code } = await run(block, cwd, environment)
  if (code !== 0) throw new Error(`exit ${code} of\n${block}\n${stdout}\n${stderr}`)
  return stdout
}
