/** Runs an operator command as operators do, told everything by its environment and its input: here, or as a process of its own. */
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { runCommandLine } from '@/cli/run-command-line'

export type Outcome = { code: number; stdout: string; stderr: string; json: Record<string, unknown> }

/** In this process, without the second that a process takes to load. `input` is what standard input holds; `json` what was printed, where it was JSON. */
export async function run(args: readonly string[], environment: Record<string, string>, input = ''): Promise<Outcome> {
  let stdout = ''
  let stderr = ''
  const code = await runCommandLine(args, {
    environment: { ...BARE_ENVIRONMENT, ...environment },
    columns: undefined,
    readSecret: async () => input,
    answer: async (text) => {
      stdout += text
    },
    tell: (line) => {
      stderr += `${line}\n`
    },
  })
  return outcome(code, stdout, stderr)
}

/** As {@link run}, in a process: for what embedded stores, exits and streams do. */
export async function runProcess(args: readonly string[], environment: Record<string, string>): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, 'src/cli/main.ts', ...args], {
    env: { ...BARE_ENVIRONMENT, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return outcome(await child.exited, stdout, stderr)
}

function outcome(code: number, stdout: string, stderr: string): Outcome {
  return { code, stdout, stderr, json: stdout.startsWith('{') ? JSON.parse(stdout) : {} }
}
