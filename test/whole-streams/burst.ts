/**
 * A hundred streams at once in one gateway, a piece of tool arguments every few milliseconds, on a machine that is kept busy: so pieces
 * gather, and reads bring as many of them as happen to be there. Over real sockets.
 */

import { join } from 'node:path'
import { createRandom } from '@test/fuzz/random'
import { CLIENTS } from '@test/matrix/clients/index'
import { spendThen, standStill } from '@test/support/delays'
import { startGateway } from '@test/support/gateway'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { assembledBy } from './assembled'
import { difference } from './judge'
import { promptOf, questionIn } from './question'
import { callScript, type Said, saidBy } from './script'
import { addProvider } from './world'

/** `model` at the gateway, asked by a client of `format`. */
type Asking = { baseUrl: string; key: string; model: string }

type Burst = {
  seed: number
  streams: number
  pieces: number
  /** What a client library makes of the stream that answers `prompt`; the vendor's own for TypeScript where absent. */
  assemble?(format: FormatName, asking: Asking, prompt: string): Promise<Said>
}

const PAIRS = FORMAT_NAMES.flatMap((client) => FORMAT_NAMES.map((provider) => ({ client, provider })))
/** Most of the time the gateway's process gets nothing done, as on a machine that has too much to do. */
const STALL_MS = 150
const WORK_MS = 30
const PROVIDER = join(import.meta.dir, 'paced-provider.ts')

/** Returns a line for each stream that a client has got otherwise than it was written. */
export async function runBurst({ seed, streams, pieces, assemble = assembleHere }: Burst): Promise<string[]> {
  const provider = await startProvider()
  const gateway = await startGateway({
    respond: () => new Response(null, { status: 599 }),
    catalog(file) {
      file.providers.provider1 = { ...file.providers.provider1, baseUrl: `${provider.url}/v1` }
      for (const format of FORMAT_NAMES) addProvider(file, format, format)
    },
  })
  const { key } = await gateway.customer('1000000')

  async function ask(index: number): Promise<string[]> {
    const { client, provider } = PAIRS[index % PAIRS.length] as (typeof PAIRS)[number]
    const own = seed + index
    const asking = { baseUrl: gateway.url, key, model: `svc/${provider}` }
    const label = `burst, ${client} from ${provider} (${own})`
    try {
      const assembled = await assemble(client, asking, promptOf(`burst-${own}-${pieces}`))
      const found = difference(saidBy(callScript(createRandom(own), pieces)), assembled)
      return found === undefined ? [] : [`${label}: ${found}`]
    } catch (error) {
      return [`${label}: ${String(error)}`]
    }
  }

  const stopStalling = startStalling()
  const busy = Bun.spawn([process.execPath, '-e', 'for (;;);'], { stdio: ['ignore', 'ignore', 'ignore'] })
  try {
    const faults = await Promise.all(Array.from({ length: streams }, (_, index) => ask(index)))
    return faults.flat()
  } finally {
    stopStalling()
    busy.kill()
    await busy.exited
    await gateway.stop()
    await provider.stop()
  }
}

async function assembleHere(format: FormatName, asking: Asking, prompt: string): Promise<Said> {
  const body = questionIn(format, prompt, [])
  return assembledBy(format, await CLIENTS[format].send({ ...asking, mode: 'stream', body }))
}

function startStalling(): () => void {
  let isOver = false
  function stall(): void {
    if (isOver) return
    standStill(STALL_MS)
    spendThen(WORK_MS, stall)
  }
  stall()
  return () => {
    isOver = true
  }
}

async function startProvider(): Promise<{ url: string; stop(): Promise<void> }> {
  const ready = Promise.withResolvers<number>()
  const child = Bun.spawn([process.execPath, PROVIDER], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (port: number) => ready.resolve(port),
    onExit: () => ready.reject(new Error('the provider did not start')),
  })
  const url = `http://127.0.0.1:${await ready.promise}`
  return {
    url,
    async stop() {
      child.kill()
      await child.exited
    },
  }
}
