/** The provider never says what it used, or says it to a client who did not ask. */
import type { Fault } from '@faults/fault'
import type { Exchange } from '@faults/world/exchange'
import { CLIENT_FORMATS } from '@faults/world/request'
import {
  answerJson,
  BILLED_INPUT_TOKENS,
  chunkEvent,
  completion,
  EVENT_STREAM,
  wordOf,
  writeWords,
} from '@faults/world/scripts'
import { sendScripted } from './scripted'

const WORDS = 12

export const u7: Fault = {
  id: 'U7',
  world: 'single',
  title: 'the provider never sends usage, in streams and whole answers',
  promise:
    'The answer is whole and charged by our own count, marked as estimated; usage that the client did not ask for is not shown.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    for (const format of CLIENT_FORMATS) {
      for (const stream of [true, false]) {
        const wish = { customer: await stage.customer(), model: 'strange', stream, format, words: WORDS }
        const seen = await sendScripted(stage, stream ? writeStream : writeWhole, wish)
        stage.expect(
          seen.ending === 'complete',
          `${format} ${stream ? 'stream' : 'whole'}: ended ${seen.ending} ${seen.status}`,
        )
      }
    }
    const silent = await stage.send({ customer: await stage.customer(), stream: true })
    stage.expect(!silent.raw.includes('prompt_tokens'), 'usage was shown to a client who did not ask for it')
    await stage.lift(() => undefined)
    const [row] = await stage.world.bank.database.sql<{ count: number }[]>`
      SELECT count(*) AS count FROM usage_records WHERE rule = 'counted' AND NOT 'estimated' = ANY(flags)`
    stage.expect(row?.count === 0, `${row?.count} estimates are not marked`)
  },
}

async function writeStream(exchange: Exchange): Promise<void> {
  const { answer } = exchange
  answer.head(200, EVENT_STREAM)
  await writeWords(exchange, { words: WORDS, pauseMs: 1 })
  await answer.write(chunkEvent({}, 'stop'))
  await answer.write('data: [DONE]\n\n')
  answer.end()
}

async function writeWhole({ call, answer, bill }: Exchange): Promise<void> {
  bill('input', BILLED_INPUT_TOKENS)
  bill('output', WORDS)
  const text = Array.from({ length: WORDS }, (_, index) => wordOf(call.marker, index)).join('')
  await answerJson(answer, 200, completion(text, undefined))
}
