/** A command reaches Redis and is done, and its reply never arrives. */
import { until } from '@test/support/until'
import { type Fault, type Stage, seenDuring } from '@faults/fault'
import type { SingleWorld } from '@faults/world/world'
import { SCRIPTS } from '@/ledger/scripts'
import { expectUnavailable } from './expect'
import { refusing, sendScripted } from './scripted'

const TIMES = 4
const RESET_AFTER_MS = 20
const NAMES = ['reserve', 'settle', 'renew', 'release'] as const

export const f15: Fault = {
  id: 'F15',
  world: 'single',
  isQuick: true,
  title: `the replies to ${NAMES.join(', ')} are lost and the connection reset, ${TIMES} times each`,
  promise: 'Whoever waited is refused or answered, and charged once: everything is repeated by its id.',
  async run(stage) {
    await stage.traffic(12)
    // Long enough to be renewed, so that renewals can be lost as well.
    const customers = await Promise.all(Array.from({ length: 6 }, () => stage.customer()))
    const streams = customers.map((customer, index) =>
      stage.send({ customer, stream: true, words: 120, pauseMs: 60 }, index % 2),
    )
    await stage.inject(() => undefined)
    for (const name of NAMES) {
      const isOver = loseReplies(stage, name)
      if (name === 'release') await failUntil(stage, isOver)
      else await until(isOver, `${TIMES} lost replies to ${name}`, 30_000)
    }
    const refused = seenDuring(stage).filter(({ ending, status }) => ending === 'refused' && status !== 502)
    expectUnavailable(stage, refused)
    await stage.lift(() => undefined)
    const seen = await Promise.all(streams)
    const bad = seen.find(({ ending }) => ending !== 'complete')
    stage.expect(bad === undefined, `an open stream ended ${bad?.ending}`)
  },
}

/** Loses replies from now on, and says when all of them are lost. */
function loseReplies({ world }: Stage<SingleWorld>, name: (typeof NAMES)[number]): () => boolean {
  const { redisProxy } = world
  const already = redisProxy.lostReplies()
  redisProxy.loseReplies({ pattern: SCRIPTS[name].sha, times: TIMES, afterMs: RESET_AFTER_MS })
  return () => redisProxy.lostReplies() >= already + TIMES
}

/** What the provider refuses is released. */
async function failUntil(stage: Stage<SingleWorld>, isOver: () => boolean): Promise<void> {
  const customer = await stage.customer()
  const fail = async () => {
    await sendScripted(stage, refusing(500), { customer, model: 'status' }, stage.random.integer(0, 1))
    return isOver()
  }
  await until(fail, `${TIMES} lost replies to release`, 30_000)
}
