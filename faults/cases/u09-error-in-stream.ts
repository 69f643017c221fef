/** The provider reports an error in the middle of an answer that began with 200. */
import type { Fault } from '@faults/fault'
import type { Exchange } from '@faults/world/exchange'
import { CLIENT_FORMATS } from '@faults/world/request'
import { dataEvent, EVENT_STREAM, writeWords } from '@faults/world/scripts'
import { sendScripted } from './scripted'

const WORDS = 7

export const u9: Fault = {
  id: 'U9',
  world: 'single',
  isQuick: true,
  title: 'the provider reports an error after 200: after some words, and before the first',
  promise:
    'An error in the format of the caller and no end after it; what was delivered is charged, nothing where nothing was.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    for (const words of [WORDS, 0]) {
      for (const format of CLIENT_FORMATS) {
        const wish = { customer: await stage.customer(), model: 'late', stream: true, format, words: 2 * WORDS }
        const seen = await sendScripted(stage, (exchange) => fail(exchange, words), wish)
        const isAsPromised = words > 0 ? seen.ending === 'error-event' : seen.ending === 'refused' && seen.status >= 500
        stage.expect(isAsPromised, `after ${words} words (${format}): ended ${seen.ending} ${seen.status}`)
      }
    }
    await stage.lift(() => undefined)
  },
}

async function fail(exchange: Exchange, words: number): Promise<void> {
  const { answer } = exchange
  answer.head(200, EVENT_STREAM)
  if (words > 0) await writeWords(exchange, { words, pauseMs: 2 })
  await answer.write(dataEvent({ error: { message: 'overloaded', type: 'overloaded_error', code: 529 } }))
  answer.end()
}
