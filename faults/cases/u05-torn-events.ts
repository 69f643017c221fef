/** The provider's stream is legal and strange: torn anywhere, with every line end, comments, a BOM, a giant event. */
import type { Fault } from '@faults/fault'
import type { Sighting } from '@faults/world/client'
import type { Exchange } from '@faults/world/exchange'
import { CLIENT_FORMATS, type ClientFormat } from '@faults/world/request'
import { BILLED_INPUT_TOKENS, chunkEvent, EVENT_STREAM, usageEvent, wordOf } from '@faults/world/scripts'
import { sendScripted } from './scripted'

const WORDS = 8
/** Below the most that a model of the suite may write. */
const MANY_EVENTS = 4_000
const GIANT_CHARS = 17 * 1024 * 1024

/** Turns a good stream into what is written, piece by piece. */
type Writing = (text: string) => Iterable<string | Uint8Array>

const WRITINGS: Record<string, Writing> = {
  'byte by byte': (text) => bytesOf(text),
  'all at once': (text) => [text],
  'with CR LF': (text) => [text.replaceAll('\n', '\r\n')],
  'with CR alone': (text) => [text.replaceAll('\n', '\r')],
  'after a byte order mark': (text) => [`\ufeff${text}`],
  'with comments between': (text) => [text.replaceAll('data:', ': keep-alive\n\ndata:')],
  'without a blank line at its end': (text) => [text.trimEnd()],
  'with JSON over several lines': (text) => [text.replaceAll('data: {', 'data: {\ndata: ')],
  'with a space less': (text) => [text.replaceAll('data: ', 'data:')],
}

export const u5: Fault = {
  id: 'U5',
  world: 'single',
  isQuick: true,
  title: `the provider's stream comes ${Object.keys(WRITINGS).join(', ')}, in ${MANY_EVENTS} events at once, and with an event of ${GIANT_CHARS} bytes`,
  promise:
    'Every word arrives, once and in order; an absurd event ends the stream in an error instead of filling the memory.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    const ask = async (
      format: ClientFormat,
      play: (exchange: Exchange) => Promise<void>,
      words = WORDS,
    ): Promise<Sighting> => {
      const customer = await stage.customer()
      return sendScripted(stage, play, {
        customer,
        model: 'strange',
        stream: true,
        format,
        words,
        maxTokens: 12 * words + 50,
      })
    }
    for (const [what, writing] of Object.entries(WRITINGS)) {
      for (const format of CLIENT_FORMATS) {
        const { ending } = await ask(format, (exchange) => write(exchange, WORDS, writing))
        stage.expect(ending === 'complete', `${what} (${format}): ended ${ending}`)
      }
    }
    const many = await ask('messages', (exchange) => write(exchange, MANY_EVENTS, (text) => [text]), MANY_EVENTS)
    stage.expect(many.ending === 'complete', `${MANY_EVENTS} events at once: ended ${many.ending}`)
    const giant = await ask('chat-completions', writeGiant)
    stage.expect(giant.ending === 'error-event', `a giant event: ended ${giant.ending}`)
    await stage.lift(() => undefined)
  },
}

async function write({ call, answer, bill }: Exchange, words: number, writing: Writing): Promise<void> {
  bill('input', BILLED_INPUT_TOKENS)
  bill('output', words)
  const pieces = Array.from({ length: words }, (_, index) => chunkEvent({ content: wordOf(call.marker, index) }))
  const text = [...pieces, chunkEvent({}, 'stop'), usageEvent(words), 'data: [DONE]\n\n'].join('')
  answer.head(200, EVENT_STREAM)
  for (const piece of writing(text)) await answer.write(piece)
  answer.end()
}

async function writeGiant({ call, answer, bill }: Exchange): Promise<void> {
  bill('input', BILLED_INPUT_TOKENS)
  answer.head(200, EVENT_STREAM)
  bill('output', 1)
  await answer.write(chunkEvent({ content: wordOf(call.marker, 0) }))
  await answer.write(`data: {"padding":"${'x'.repeat(GIANT_CHARS)}`)
  await answer.gone
}

function* bytesOf(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let index = 0; index < bytes.length; index++) yield bytes.subarray(index, index + 1)
}
