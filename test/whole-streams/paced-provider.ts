/**
 * A provider of every format in a process of its own, as providers are: it goes on writing, a piece every few milliseconds, while the
 * gateway is at work. What it says follows from the name in the question. Tells its parent its port.
 */

import { createRandom } from '@test/fuzz/random'
import { spend } from '@test/support/delays'
import { liveStream } from '@test/support/upstream'
import { FORMAT_NAMES } from '@/chat/format-name'
import { TELL } from './providers/index'
import { nameIn, numbersIn } from './question'
import { callScript } from './script'

const MAX_PAUSE_MS = 5

async function pace(live: ReturnType<typeof liveStream>, events: readonly string[], seed: number): Promise<void> {
  const pauseMs = 1 + (seed % MAX_PAUSE_MS)
  for (const event of events) {
    live.write(event)
    await spend(pauseMs)
  }
  live.close()
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    const provider = FORMAT_NAMES.find((format) => new URL(request.url).pathname.startsWith(`/${format}/`))
    const [seed = 0, pieces = 0] = numbersIn(nameIn(await request.text()))
    if (!provider) return new Response(null, { status: 404 })
    const random = createRandom(seed)
    const live = liveStream()
    void pace(live, TELL[provider](callScript(random, pieces), random), seed)
    return live.response
  },
})
process.send?.(server.port)
