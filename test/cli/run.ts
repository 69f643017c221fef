/** Runs an operator command as operators do: as a process of its own, told everything by its environment and its input. */
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'

export type Outcome = { code: number; stdout: string; stderr: string; json: Record<string, unknown> }

/** `input` is what standard input holds; `json` is what was printed, where it was JSON. */
export async function run(args: readonly string[], environment: Record<string, string>, input = ''): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, 'src/cli/main.ts', ...args], {
    env: { ...BARE_ENVIRONMENT, ...environment },
    stdin: new TextEncoder().encode(input),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const json = stdout.startsWith('{') ? JSON.parse(stdout) : {}
  return { code: await child.exited, stdout, stderr, json }
}
