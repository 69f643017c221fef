/** A command reaches Redis and is done, and its reply never arrives. */

import { type Fault, type Stage, seenDuring } from '@faults/fault'
import { newMarker } from '@faults/world/client'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { expectUnavailable } from './expect'
import { refusing, sendScripted } from './scripted'

/** How many replies to each are lost. */
const TIMES = { reserve: 4, settle: 4, renew: 2, release: 4 }
const RESET_AFTER_MS = 20
const NAMES = Object.keys(TIMES) as (keyof typeof TIMES)[]

export const f15: Fault = {
  id: 'F15',
  world: 'single',
  isQuick: true,
  title: `the replies to ${NAMES.join(', ')} are lost and the connection reset, several times each`,
  promise: 'Whoever waited is refused or answered, and charged once: everything is repeated by its id.',
  async run(stage) {
    await stage.traffic(12)
    // Long enough to be renewed, so that renewals can be lost as well.
    const customers = await Promise.all(Array.from({ length: 6 }, () => stage.customer()))
    const markers = customers.map(newMarker)
    const streams = customers.map((customer, index) =>
      stage.send(
        { customer, stream: true, words: stage.isQuick ? 40 : 150, pauseMs: 60, marker: markers[index] ?? '' },
        index % 2,
      ),
    )
    const called = new Set(markers)
    const open = () => stage.world.upstream.calls.filter(({ marker }) => called.has(marker)).length === markers.length
    await until(open, 'the streams to be open')
    await stage.inject(() => undefined)
    // Renewals come seldom, and releases only where a provider fails.
    for (const name of stage.isQuick ? NAMES.slice(0, 2) : NAMES) {
      const isOver = loseReplies(stage, name)
      if (name === 'release') await failUntil(stage, isOver)
      else await until(isOver, `lost replies to ${name}`)
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
function loseReplies({ world }: Stage<SingleWorld>, name: keyof typeof TIMES): () => boolean {
  const { redisProxy } = world
  const already = redisProxy.lostReplies()
  redisProxy.loseReplies({ pattern: SCRIPTS[name].sha, times: TIMES[name], afterMs: RESET_AFTER_MS })
  return () => redisProxy.lostReplies() >= already + TIMES[name]
}

/** What the provider refuses is released. */
async function failUntil(stage: Stage<SingleWorld>, isOver: () => boolean): Promise<void> {
  const customer = await stage.customer()
  const fail = async () => {
    await sendScripted(stage, refusing(500), { customer, model: 'status' }, stage.random.integer(0, 1))
    return isOver()
  }
  await until(fail, 'lost replies to release')
}
