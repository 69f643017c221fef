/** Clients whose connection or whose gateway broke in the middle send the same request again, by its idempotency key. */
import type { Fault, Stage } from '@faults/fault'
import { newMarker, type Sighting, wordCount } from '@faults/world/client'
import { CLIENT_FORMATS, type Wish } from '@faults/world/request'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

/** Until every stream has been renewed once: from then on a dead gateway's requests are charged. */
const AGE_MS = 2_600
const PAUSE_MS = 100
const WORDS = 60
const REPEAT_PAUSE_MS = 250
/** The rest of an answer, or of the life of a hold, and what a busy machine adds. */
const DECISION_LIMIT_MS = 30_000

export const c13: Fault = {
  id: 'C13',
  world: 'single',
  isQuick: true,
  title:
    'clients hang up, or their gateway is killed, in the middle of streams, and they repeat by idempotency key elsewhere',
  promise:
    'No key reaches the provider twice or is charged twice; whoever hung up gets the whole answer, whoever lost the gateway is told that it is charged and lost.',
  async run(stage) {
    const [first] = stage.world.gateways
    if (!first) return
    const count = stage.isQuick ? 6 : 40
    const leavers = await Promise.all(Array.from({ length: count }, (_, index) => newWish(stage, index)))
    const orphans = await Promise.all(Array.from({ length: count }, (_, index) => newWish(stage, index)))
    const left = Promise.all(leavers.map((wish) => stage.send({ ...wish, hangUpAfterWords: 3 }, 1)))
    const doomed = Promise.all(orphans.map((wish) => stage.send(wish, 0)))
    await until(() => stage.world.upstream.openAnswers() >= 2 * count, 'the streams to be open')
    await Bun.sleep(AGE_MS)
    stage.tolerance.killedAtMs = [Date.now()]
    await stage.inject(async () => {
      first.signal('SIGKILL')
      await first.exited()
    })
    await Promise.all([left, doomed])
    const lost = await Promise.all(orphans.map((wish) => repeat(stage, wish, 1)))
    await stage.lift(() => first.start())
    const whole = await Promise.all(leavers.map((wish) => repeat(stage, wish, 0)))
    for (const { ending, text, status } of whole)
      stage.expect(ending === 'complete' && wordCount(text) === WORDS, `one that hung up got ${ending} (${status})`)
    for (const { status, raw } of lost)
      stage.expect(/idempotency_answer_lost/i.test(raw), `one whose gateway died got ${status} instead of the news`)
    for (const { marker } of [...leavers, ...orphans]) {
      const calls = stage.world.upstream.calls.filter((call) => call.marker === marker)
      stage.expect(calls.length === 1, `a key reached the provider ${calls.length} times`)
    }
  },
}

async function newWish(stage: Stage<SingleWorld>, index: number): Promise<Wish> {
  const marker = newMarker()
  const format = CLIENT_FORMATS[index % CLIENT_FORMATS.length] ?? 'messages'
  const customer = await stage.customer()
  return { customer, marker, idempotencyKey: marker, stream: true, format, words: WORDS, pauseMs: PAUSE_MS }
}

/** Asks again for as long as the first request is under way. */
function repeat(stage: Stage<SingleWorld>, wish: Wish, gateway: number): Promise<Sighting> {
  const ask = async () => {
    const sighting = await stage.send(wish, gateway)
    if (!/idempotency_key_in_use/i.test(sighting.raw)) return sighting
    await Bun.sleep(REPEAT_PAUSE_MS)
    return undefined
  }
  return until(ask, 'the key to be decided', DECISION_LIMIT_MS)
}
