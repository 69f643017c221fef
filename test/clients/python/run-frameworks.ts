/**
 * The command `bun run clients:python`: LangChain and pydantic-ai, unmodified, with each family's interface against a gateway
 * with a scripted provider of each format behind it. Needs no network beyond the installation.
 */

import type { Worker } from '@test/clients/worker'
import { type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { stopStores } from '@test/support/stores'
import { FORMAT_NAMES } from '@/chat/format-name'
import { preparePython } from './environment'
import { FRAMEWORKS, SCENARIOS } from './frameworks'
import { startPythonWorker } from './python-worker'
import { versionIn } from './versions'

const python = await preparePython('frameworks', write)
if (python === undefined) process.exit(1)
const names = FRAMEWORKS.flatMap(({ packages }) => packages)
write(names.map((name) => `${name} ${versionIn('frameworks', name)}`).join(', '))
const world = await startScriptedModels({}, {}, {}, {}, 200)
let failures = 0
for (const { name, module } of FRAMEWORKS) {
  const worker = startPythonWorker(python, module)
  for (const line of await runFramework(world, worker)) {
    if (line.fault !== undefined) failures++
    write(`${name} · ${line.about} · ${line.fault === undefined ? 'ok' : `FAILED: ${line.fault}`}`)
  }
  await worker.stop()
}
await world.gateway.stop()
await stopStores()
process.exit(failures === 0 ? 0 : 1)

type Line = { about: string; fault: string | undefined }

async function runFramework({ gateway, customer, modelWith }: ScriptedModels, worker: Worker): Promise<Line[]> {
  const access = { baseUrl: gateway.url, key: customer.key }
  const lines: Line[] = []
  for (const family of FORMAT_NAMES) {
    for (const scenario of SCENARIOS) {
      for (const provider of FORMAT_NAMES) {
        const model = modelWith(provider, (call) => scenario.respond(provider, call))
        const fault = await scenario
          .run({ worker, family, access, model })
          .catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
        lines.push({ about: `${family} · ${scenario.name} · provider of ${provider}`, fault })
      }
    }
  }
  return lines
}

function write(line: string): void {
  process.stdout.write(`${line}\n`)
}
