/** The provider's stream ends cleanly as HTTP goes, but without the end of its format. */
import type { Fault } from '@faults/fault'
import type { Exchange } from '@faults/world/exchange'
import { CLIENT_FORMATS } from '@faults/world/request'
import { chunkEvent, EVENT_STREAM, writeWords } from '@faults/world/scripts'
import { sendScripted } from './scripted'

const WORDS = 6

const CASES: Record<string, (exchange: Exchange) => Promise<void>> = {
  async 'the last chunk comes without an end'(exchange) {
    exchange.answer.head(200, EVENT_STREAM)
    await writeWords(exchange, { words: WORDS, pauseMs: 2 })
    exchange.answer.end()
  },
  async 'the connection ends without an end'(exchange) {
    exchange.answer.head(200, EVENT_STREAM, { kind: 'close' })
    await writeWords(exchange, { words: WORDS, pauseMs: 2 })
    exchange.answer.close()
  },
  async 'a reason to finish, but no end'(exchange) {
    exchange.answer.head(200, EVENT_STREAM)
    await writeWords(exchange, { words: WORDS, pauseMs: 2 })
    await exchange.answer.write(chunkEvent({}, 'stop'))
    exchange.answer.end()
  },
}

export const u4: Fault = {
  id: 'U4',
  world: 'single',
  isQuick: true,
  title: `the provider's stream ends without the end of its format: ${Object.keys(CASES).join('; ')}`,
  promise: 'A cut stream never looks whole: it ends in an error, unless the provider had said why it finished.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    for (const [what, play] of Object.entries(CASES)) {
      for (const format of CLIENT_FORMATS) {
        const wish = { customer: await stage.customer(), model: 'broken', stream: true, format, words: 2 * WORDS }
        const seen = await sendScripted(stage, play, what.startsWith('a reason') ? { ...wish, words: WORDS } : wish)
        const isCut = seen.ending === 'error-event'
        stage.expect(
          isCut || (what.startsWith('a reason') && seen.ending === 'complete'),
          `${what} (${format}): ${seen.ending}`,
        )
      }
    }
    await stage.lift(() => undefined)
  },
}
