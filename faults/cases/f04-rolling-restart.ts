/** Two gateways behind a proxy are restarted one after another under load, with streams open on them. */
import { join } from 'node:path'
import type { Fault, Stage } from '@faults/fault'
import { type Sighting, send } from '@faults/world/client'
import type { GatewayProcess } from '@faults/world/gateway-process'
import { startCaddy } from '@faults/world/proxies/caddy'
import type { InFront } from '@faults/world/proxies/in-front'
import { startNginx } from '@faults/world/proxies/nginx'
import { startTraffic } from '@faults/world/traffic'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

const RESTARTS = 20
const QUICK_RESTARTS = 4
/** For so many stops and starts, of several processes each, on a machine that has other work as well. */
const LIMIT_MS = 360_000
/** Long enough for a busy machine to end the streams that are open. */
const SHUTDOWN_TIMEOUT_MS = 20_000
const CLIENTS = 12
const STREAMS = 10
/** A stream of so many words outlasts the delay, so that it ends when the listener is closed. */
const STREAM_WORDS = 60
const STREAM_PAUSE_MS = 20

type Variant = {
  id: string
  isQuick?: boolean
  /** The proxy, as the title calls it, and how it is started. */
  proxy: string
  start(folder: string, urls: readonly string[]): Promise<InFront>
  processes: number
  drainDelayMs: number
}

/** F4 behind one proxy, with so many processes in each gateway. */
function rollingRestart(variant: Variant): Fault {
  const { id, isQuick = false, proxy, processes } = variant
  const what = processes > 1 ? `two gateways of ${processes} processes each` : 'two gateways'
  const rolling = {
    DRAIN_DELAY_MS: String(variant.drainDelayMs),
    SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS),
    PROCESSES: String(processes),
    // A machine that is short of breath is not what is asked here.
    REDIS_COMMAND_TIMEOUT_MS: '5000',
  }
  return {
    id,
    world: 'single',
    isQuick,
    limitMs: LIMIT_MS,
    title: `${what} behind ${proxy} are restarted ${RESTARTS} times, one after the other, under load and with streams open`,
    promise: 'Nobody notices: every request is answered, and every stream comes to its own end.',
    async run(stage) {
      const { gateways, folder } = stage.world
      for (const gateway of gateways) await restart(gateway, rolling)
      const inFront = await variant.start(join(folder, id), urlsOf(gateways))
      const lost: Sighting[] = []
      let answered = 0
      const see = (sighting: Sighting) => {
        stage.see(sighting)
        if (sighting.ending === 'complete') answered++
        else lost.push(sighting)
      }
      const traffic = startTraffic({
        customers: await Promise.all(Array.from({ length: CLIENTS }, () => stage.customer(50))),
        ...{ random: stage.random, addresses: () => [inFront.url], onSighting: see, words: [1, 10], pauseMs: [1, 5] },
      })
      try {
        await traffic.warm()
        const restarts = stage.isQuick ? QUICK_RESTARTS : RESTARTS
        await stage.inject(() => roll(stage, { inFront, see, restarts, rolling }))
        await traffic.stop()
        for (const { ending, status, stream, text } of lost)
          stage.expect(false, `a ${stream ? 'stream' : 'request'} ended ${ending} ${status} after "${text.slice(-30)}"`)
        for (const line of await inFront.errors()) stage.expect(false, `${proxy}: ${line.slice(0, 300)}`)
        stage.note(`${id}: ${restarts} restarts, ${answered} requests answered, ${lost.length} lost`)
      } finally {
        await traffic.stop()
        await inFront.stop()
      }
      await stage.lift(() => Promise.all(gateways.map((gateway) => restart(gateway))))
    },
  }
}

/** An idle connection is kept for half as long as the delay, as operators are told. */
const nginx = {
  proxy: 'nginx',
  drainDelayMs: 600,
  start: (folder: string, urls: readonly string[]) => startNginx(folder, urls, 300),
}
/** How often Caddy asks. */
const LOOK_MS = 200
/** Several times within the delay, as operators are told. */
const caddy = {
  proxy: 'Caddy',
  drainDelayMs: 5 * LOOK_MS,
  start: (folder: string, urls: readonly string[]) => startCaddy(folder, urls, LOOK_MS),
}

export const f4 = rollingRestart({ id: 'F4', isQuick: true, ...nginx, processes: 1 })
export const f4Processes = rollingRestart({ id: 'F4p', ...nginx, processes: 2 })
export const f4Caddy = rollingRestart({ id: 'F4c', ...caddy, processes: 1 })

type Rolling = {
  inFront: InFront
  see(sighting: Sighting): void
  restarts: number
  /** The settings of each gateway. */
  rolling: Record<string, string>
}

/** Restarts one gateway after the other, each with streams open and new ones coming meanwhile. */
async function roll(stage: Stage<SingleWorld>, { inFront, see, restarts, rolling }: Rolling): Promise<void> {
  const customer = await stage.customer(100)
  const stream = async () =>
    see(await send(inFront.url, { customer, stream: true, words: STREAM_WORDS, pauseMs: STREAM_PAUSE_MS }))
  for (let count = 0; count < restarts; count++) {
    const gateway = stage.world.gateways[count % stage.world.gateways.length]
    if (!gateway) return
    const calls = stage.world.upstream.calls.length
    const streams = Array.from({ length: STREAMS }, stream)
    await until(() => stage.world.upstream.calls.length >= calls + STREAMS, 'the streams to be open')
    await restart(gateway, rolling)
    // The next one goes when this one is back for the proxy too, as operators are told.
    await Promise.all([...streams, inFront.takesBack(gateway.url)])
  }
}

function urlsOf(gateways: readonly GatewayProcess[]): string[] {
  return gateways.map(({ url }) => url)
}

/** At the port that it had, which the proxy knows and which several processes can share. */
async function restart(gateway: GatewayProcess, environment: Record<string, string> = {}): Promise<void> {
  gateway.signal('SIGTERM')
  const code = await gateway.exited()
  if (code !== 0) throw new Error(`${gateway.name} left with ${code}`)
  await gateway.start({ ...environment, PORT: new URL(gateway.url).port })
}
