/** Two gateways behind nginx are restarted one after another under load, with streams open on them. */
import { join } from 'node:path'
import type { Fault, Stage } from '@faults/fault'
import { type Sighting, send } from '@faults/world/client'
import type { GatewayProcess } from '@faults/world/gateway-process'
import { type Nginx, startNginx } from '@faults/world/nginx'
import { startTraffic } from '@faults/world/traffic'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

const RESTARTS = 20
const QUICK_RESTARTS = 4
/** Long enough for a busy machine to end the streams that are open. */
const SHUTDOWN_TIMEOUT_MS = 20_000
const DRAIN_DELAY_MS = 600
/** Less than the delay, as operators are told. */
const KEEP_MS = 300
const CLIENTS = 12
const STREAMS = 10
/** A stream of so many words outlasts the delay, so that it ends when the listener is closed. */
const STREAM_WORDS = 60
const STREAM_PAUSE_MS = 20

export const f4: Fault = {
  id: 'F4',
  world: 'single',
  isQuick: true,
  title: `two gateways behind nginx are restarted ${RESTARTS} times, one after the other, under load and with streams open`,
  promise: 'Nobody notices: every request is answered, and every stream comes to its own end.',
  async run(stage) {
    const { gateways, folder } = stage.world
    for (const gateway of gateways) await restart(gateway, ROLLING)
    const urls = gateways.map(({ url }) => url)
    const nginx = await startNginx(join(folder, 'nginx'), urls, KEEP_MS)
    const lost: Sighting[] = []
    let answered = 0
    const see = (sighting: Sighting) => {
      stage.see(sighting)
      if (sighting.ending === 'complete') answered++
      else lost.push(sighting)
    }
    const traffic = startTraffic({
      customers: await Promise.all(Array.from({ length: CLIENTS }, () => stage.customer(50))),
      ...{ random: stage.random, addresses: () => [nginx.url], onSighting: see, words: [1, 10], pauseMs: [1, 5] },
    })
    try {
      await traffic.warm()
      const restarts = stage.isQuick ? QUICK_RESTARTS : RESTARTS
      await stage.inject(() => roll(stage, nginx, see, restarts))
      await traffic.stop()
      for (const { ending, status, stream, text } of lost)
        stage.expect(false, `a ${stream ? 'stream' : 'request'} ended ${ending} ${status} after "${text.slice(-30)}"`)
      for (const line of await nginx.errors())
        stage.expect(line.includes('Connection refused'), `nginx: ${line.slice(0, 300)}`)
      stage.note(`F4: ${restarts} restarts, ${answered} requests answered, ${lost.length} lost`)
    } finally {
      await traffic.stop()
      await nginx.stop()
    }
    await stage.lift(() => Promise.all(gateways.map((gateway) => restart(gateway))))
  },
}

const ROLLING = { DRAIN_DELAY_MS: String(DRAIN_DELAY_MS), SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS) }

/** Restarts one gateway after the other, each with streams open and new ones coming meanwhile. */
async function roll(
  stage: Stage<SingleWorld>,
  nginx: Nginx,
  see: (sighting: Sighting) => void,
  restarts: number,
): Promise<void> {
  const customer = await stage.customer(100)
  const stream = async () =>
    see(await send(nginx.url, { customer, stream: true, words: STREAM_WORDS, pauseMs: STREAM_PAUSE_MS }))
  for (let count = 0; count < restarts; count++) {
    const gateway = stage.world.gateways[count % stage.world.gateways.length]
    if (!gateway) return
    const calls = stage.world.upstream.calls.length
    const streams = Array.from({ length: STREAMS }, stream)
    await until(() => stage.world.upstream.calls.length >= calls + STREAMS, 'the streams to be open')
    await restart(gateway, { ...ROLLING, PORT: new URL(gateway.url).port })
    await Promise.all(streams)
  }
}

async function restart(gateway: GatewayProcess, environment: Record<string, string> = {}): Promise<void> {
  gateway.signal('SIGTERM')
  const code = await gateway.exited()
  if (code !== 0) throw new Error(`${gateway.name} left with ${code}`)
  await gateway.start(environment)
}
