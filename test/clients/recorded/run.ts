/**
 * The command `bun run clients:recorded <folder>`: every recorded answer of the folder (by default those of the tests) through
 * every client library of Node and Python; prints which break, or see something else than the rest, and ends non-zero if any does.
 */
import { resolve } from 'node:path'
import { preparePython } from '@test/clients/python/environment'
import { startPythonLibraries } from '@test/clients/python/libraries'
import { startScriptedModels } from '@test/gateway/scripted-models'
import { stopStores } from '@test/support/stores'
import { judgedClients } from './clients'
import { FIXTURES } from './describe'
import { createJudge } from './judge'
import { readRecordings } from './recordings'

const python = await preparePython('sdks', write)
const libraries = python === undefined ? [] : startPythonLibraries(python)
const clients = judgedClients(libraries)
const world = await startScriptedModels()
const { judge } = createJudge(world, clients)
const recordings = readRecordings(resolve(process.argv[2] ?? FIXTURES))
let [count, failures] = [0, 0]
for (const recording of recordings) {
  const { broken, isFailure } = await judge(recording)
  if (isFailure) failures++
  for (const { client, saw, most } of broken) {
    count++
    write(`${recording.name} · ${client}\n  saw  ${saw.slice(0, 300)}\n  most ${most.slice(0, 300)}`)
  }
}
for (const { worker } of libraries) await worker.stop()
await world.gateway.stop()
await stopStores()
write(
  `${recordings.length} recordings, ${failures} of failures, ${clients.length} clients, ${recordings.length * clients.length} cells, ${count} broken`,
)
process.exit(count === 0 ? 0 : 1)

function write(line: string): void {
  process.stdout.write(`${line}\n`)
}
