/**
 * The command `bun run clients:cli`: installs the coding tools of `programs.ts` into the cache folder and runs them, unmodified,
 * against a gateway with a scripted provider of each format behind it. Needs no network beyond the installation. Names of programs
 * (`bun run clients:cli Codex aider`) omit the others.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelAt, startTrio } from '@test/clients/trio'
import type { TestGateway } from '@test/support/gateway'
import { stopStores } from '@test/support/stores'
import { until } from '@test/support/until'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { AIDER, install, PACKAGES, PROGRAMS, type Program } from './programs'
import { startRecorder } from './recorder'
import { judgeCharge, judgeOutput, type Outcome, type Scenario, scenariosOf } from './scenarios'

const FOLDER = join(import.meta.dir, '..', '..', '..', '.cache', 'clients-cli')
/** A client that takes longer hangs, or waits to try again. */
const TIMEOUT_MS = 90_000

await install(FOLDER)
write(
  `${Object.entries({ ...PACKAGES, aider: AIDER })
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')}\n`,
)
const gateway = await startTrio()
let failures = 0
const asked = process.argv.slice(2)
for (const program of PROGRAMS.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
  await program.install?.(FOLDER)
  for (const scenario of scenariosOf(program)) {
    for (const provider of scenario.providers ?? FORMAT_NAMES) {
      const startedMs = performance.now()
      const fault = await runScenario(gateway, program, scenario, provider)
      if (fault !== undefined) failures++
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
      const verdict = fault === undefined ? 'ok' : `FAILED: ${fault}`
      write(`${program.name} · ${scenario.name} · provider of ${provider} · ${seconds} s · ${verdict}\n`)
    }
  }
}
await gateway.stop()
await stopStores()
process.exit(failures === 0 ? 0 : 1)

async function runScenario(
  gateway: TestGateway,
  program: Program,
  scenario: Scenario,
  provider: FormatName,
): Promise<string | undefined> {
  const home = await mkdtemp(join(tmpdir(), 'svc-gateway-cli-'))
  const files = ['a', 'b'].map((name) => ({ path: join(home, `${name}.txt`), content: `content-of-${name}-7431` }))
  for (const { path, content } of files) await writeFile(path, `${content}\n`)
  const context = { program, provider, files }
  const customer = await gateway.customer('1000')
  const recorder = startRecorder(gateway.url)
  const callsBefore = gateway.upstream.calls.length
  gateway.upstream.respond((call, index) => scenario.respond(context, call, index - callsBefore))
  const command = await program.command({
    packages: FOLDER,
    home,
    baseUrl: recorder.url,
    key: customer.key,
    model: modelAt(provider),
    prompt: scenario.prompt,
  })
  const outcome: Outcome = {
    ...(await runCommand(command, home)),
    calls: gateway.upstream.calls.slice(callsBefore),
    requests: recorder.requests,
  }
  recorder.stop()
  await rm(home, { recursive: true, force: true })
  const fault = judgeOutput(outcome, scenario) ?? scenario.judge(outcome, context)
  if (fault !== undefined) return fault
  const balance = await until(async () => {
    const read = await gateway.balance(customer.accountId)
    return read.held === 0 && read
  }, 'every hold to be settled')
  return judgeCharge(balance.spent, outcome, scenario)
}

async function runCommand(command: Awaited<ReturnType<Program['command']>>, home: string) {
  const child = Bun.spawn(command.arguments, {
    cwd: home,
    env: { PATH: `${join(FOLDER, 'node_modules/.bin')}:/usr/local/bin:/usr/bin:/bin`, ...command.environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  clearTimeout(timer)
  return { output, errors, exitCode }
}

function write(text: string): void {
  process.stdout.write(text)
}
