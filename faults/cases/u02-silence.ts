/** The provider takes the request and says nothing, or nothing more. */

import type { Fault, Stage } from '@faults/fault'
import { BRISK } from '@faults/world/catalog-file'
import type { Sighting } from '@faults/world/client'
import type { Exchange } from '@faults/world/exchange'
import { EVENT_STREAM, writeWords } from '@faults/world/scripts'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'
import { sendScripted } from './scripted'

/** What a timer may be late by on a busy machine. */
const SLACK_MS = 1_500

type Case = {
  what: string
  stream: boolean
  play(exchange: Exchange): Promise<void>
  isAsPromised(sighting: Sighting): boolean
}

const CASES: readonly Case[] = [
  { what: 'no answer at all', stream: true, play: async () => undefined, isAsPromised: ({ status }) => status === 504 },
  {
    what: 'headers, then silence',
    stream: true,
    play: async ({ answer }) => answer.head(200, EVENT_STREAM),
    isAsPromised: ({ status }) => status === 504,
  },
  {
    what: 'five words, then silence',
    stream: true,
    async play(exchange) {
      exchange.answer.head(200, EVENT_STREAM)
      await writeWords(exchange, { words: 5, pauseMs: 5 })
    },
    isAsPromised: ({ ending, text }) => ending === 'error-event' && text.split(' ').length === 6,
  },
  {
    what: 'half of a whole answer, then silence',
    stream: false,
    async play({ answer }) {
      answer.head(200, { 'content-type': 'application/json' }, { kind: 'length', bytes: 1_000 })
      await answer.write('{"id":"x","choices":[')
    },
    isAsPromised: ({ status }) => status === 504,
  },
]

export const u2: Fault = {
  id: 'U2',
  world: 'single',
  isQuick: true,
  title: `the provider is silent: ${CASES.map(({ what }) => what).join('; ')}`,
  promise:
    'Each timeout ends the call at its own time: 504, or an error in the stream; the connection is given up, what was delivered is charged.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    await Promise.all(CASES.map((one) => play(stage, one)))
    await stage.lift(() => undefined)
  },
}

async function play(stage: Stage<SingleWorld>, { what, stream, play, isAsPromised }: Case): Promise<void> {
  let wasLeft = false
  const seen = await sendScripted(
    stage,
    async (exchange) => {
      await play(exchange)
      await exchange.answer.gone
      wasLeft = true
    },
    { customer: await stage.customer(), model: 'brisk', stream, words: 20 },
  )
  stage.expect(isAsPromised(seen), `${what}: ended ${seen.ending} ${seen.status} ${JSON.stringify(seen.text)}`)
  // Both timeouts, one after the other, and a second target or attempt for what may be tried again.
  const limitMs = 2 * (BRISK.firstByteMs + BRISK.idleMs) + SLACK_MS
  stage.expect(seen.durationMs < limitMs, `${what}: ${Math.round(seen.durationMs)} ms`)
  await until(() => wasLeft, 'the connection to be given up').catch(() =>
    stage.expect(false, `${what}: the call is still open`),
  )
}
