/** Prometheus' own judge of expositions, rules and queries. */
import { dirname, join } from 'node:path'
import { programPath } from './debian'

/** Runs promtool with `words`, `input` on its standard input. `said` is all that it wrote. */
export async function promtool(words: string[], input = ''): Promise<{ code: number; said: string }> {
  const program = join(dirname(programPath('prometheus')), 'promtool')
  const tool = Bun.spawn([program, ...words], { stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' })
  const said = await Promise.all([new Response(tool.stdout).text(), new Response(tool.stderr).text()])
  return { code: await tool.exited, said: said.join('') }
}
