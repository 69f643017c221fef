/** A gateway dies at each moment of a request's life at which something has happened that nobody knows of yet. */
import type { Fault, Stage } from '@faults/fault'
import { CLIENT_FORMATS } from '@faults/world/request'
import type { SingleWorld } from '@faults/world/world'

const POINTS = ['reserved', 'answering', 'settling', 'settled'] as const
/** Long enough to be renewed before they are settled. */
const PACES = [
  { words: 6, pauseMs: 5 },
  { words: 24, pauseMs: 80 },
]
const CLIENTS = 8
const ROUNDS = 8

export const f2: Fault = {
  id: 'F2',
  world: 'single',
  isQuick: true,
  title: `a gateway dies at each point of a request: ${POINTS.join(', ')}`,
  promise: 'Each request ends in exactly one way; its client sees a broken answer, never a clean end.',
  async run(stage) {
    const [first] = stage.world.gateways
    if (!first) return
    stage.tolerance.killedAtMs = []
    await stage.inject(async () => {
      first.signal('SIGKILL')
      await first.exited()
    })
    for (const point of POINTS) {
      for (let round = 0; round < (stage.isQuick ? 1 : ROUNDS); round++) await crash(stage, point)
    }
    await stage.lift(() => first.start())
  },
}

async function crash(stage: Stage<SingleWorld>, point: string): Promise<void> {
  const [first] = stage.world.gateways
  if (!first) return
  await first.start({ CRASH_AT: `${point}:${stage.random.integer(1, CLIENTS)}` })
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const customer = await stage.customer()
    while (first.isRunning()) {
      const format = CLIENT_FORMATS[index % CLIENT_FORMATS.length] ?? 'messages'
      await stage.send({ customer, format, stream: index % 4 !== 3, ...stage.random.pick(PACES) })
    }
  })
  await first.exited()
  stage.tolerance.killedAtMs?.push(Date.now())
  await Promise.all(clients)
}
