/** The provider breaks off: in the middle of a chunk, of an event, of a body, in order or with a reset. */
import type { Fault } from '@faults/fault'
import { type Sighting, wordCount } from '@faults/world/client'
import type { Exchange } from '@faults/world/exchange'
import { CLIENT_FORMATS } from '@faults/world/request'
import { chunkEvent, EVENT_STREAM, wordOf, writeWords } from '@faults/world/scripts'
import { sendScripted } from './scripted'

const WORDS = 6
/** Long enough for what was written to reach the client before the break. */
const RELAY_MS = 30

type Case = {
  what: string
  stream: boolean
  play(exchange: Exchange): Promise<void>
  isAsPromised(seen: Sighting): boolean
}

/** Nothing was delivered: another status, and free. */
const isRefused = ({ status }: Sighting) => status === 502
const isCut = ({ ending, text }: Sighting) => ending === 'error-event' && wordCount(text) >= 1
/** Words are relayed, and then an error: never a clean end. What reaches a busy gateway together with a break is lost with it. */
const isCutOrLost = (seen: Sighting) => isCut(seen) || isRefused(seen)

async function begin(exchange: Exchange): Promise<void> {
  exchange.answer.head(200, EVENT_STREAM)
  await writeWords(exchange, { words: WORDS, pauseMs: 5 })
  await Bun.sleep(RELAY_MS)
}

const CASES: readonly Case[] = [
  {
    what: 'closes inside a chunk',
    stream: true,
    async play(exchange) {
      await begin(exchange)
      exchange.answer.raw('ff\r\ndata: {"choices"')
      exchange.answer.close()
    },
    isAsPromised: isCutOrLost,
  },
  {
    what: 'closes inside an event',
    stream: true,
    async play(exchange) {
      await begin(exchange)
      await exchange.answer.write(chunkEvent({ content: wordOf(exchange.call.marker, WORDS) }).slice(0, 40))
      exchange.answer.close()
    },
    isAsPromised: isCutOrLost,
  },
  {
    what: 'resets in a stream',
    stream: true,
    async play(exchange) {
      await begin(exchange)
      await Bun.sleep(20)
      exchange.answer.reset()
    },
    isAsPromised: isCutOrLost,
  },
  {
    what: 'resets before any content',
    stream: true,
    play: async ({ answer }) => {
      answer.head(200, EVENT_STREAM)
      await Bun.sleep(20)
      answer.reset()
    },
    isAsPromised: isRefused,
  },
  {
    what: 'closes inside a whole answer',
    stream: false,
    async play({ answer }) {
      answer.head(200, { 'content-type': 'application/json' }, { kind: 'length', bytes: 500 })
      await answer.write('{"id":"x","choices":[{"index":0')
      answer.close()
    },
    isAsPromised: isRefused,
  },
  { what: 'closes without a word', stream: false, play: async ({ answer }) => answer.close(), isAsPromised: isRefused },
]

export const u3: Fault = {
  id: 'U3',
  world: 'single',
  isQuick: true,
  title: `the provider ${CASES.map(({ what }) => what).join('; ')}`,
  promise: 'What was delivered is charged and ends in an error; what was not is a 502, free of charge.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    const lost = new Set<string>()
    let cuts = 0
    for (const { what, stream, play, isAsPromised } of CASES) {
      for (const format of CLIENT_FORMATS) {
        const wish = { customer: await stage.customer(), model: 'broken', stream, format, words: 2 * WORDS }
        const seen = await sendScripted(stage, play, wish)
        stage.expect(
          isAsPromised(seen),
          `${what} (${format}): ended ${seen.ending} ${seen.status} ${JSON.stringify(seen.text)}`,
        )
        if (isCut(seen)) cuts++
        else lost.add(seen.marker)
      }
    }
    stage.expect(cuts > 0, 'no client saw a word before a break')
    // Of what nobody was delivered, nothing is charged.
    stage.tolerance.waived = lost
    await stage.lift(() => undefined)
  },
}
