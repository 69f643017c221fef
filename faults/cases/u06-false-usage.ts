/** The provider's figures are false: impossible, contradictory, early, twice, or no JSON at all. */
import type { Fault } from '@faults/fault'
import type { Exchange } from '@faults/world/exchange'
import {
  BILLED_INPUT_TOKENS,
  chunkEvent,
  dataEvent,
  EVENT_STREAM,
  usageEvent,
  usageOf,
  wordOf,
} from '@faults/world/scripts'
import { sendScripted } from './scripted'

const WORDS = 6

const usage = (promptTokens: unknown, completionTokens: unknown) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: 0,
})

/** What stands where the usage should; every other event is good. */
const USAGES: Record<string, string> = {
  negative: usageEvent(WORDS, usage(-10, -1_000_000)),
  fractional: usageEvent(WORDS, usage(10.5, 6.25)),
  '1e308': `data: {"choices":[],"usage":{"prompt_tokens":1e308,"completion_tokens":1e308,"total_tokens":1e308}}\n\n`,
  '1.8e19': `data: {"choices":[],"usage":{"prompt_tokens":18000000000000000000,"completion_tokens":18000000000000000000}}\n\n`,
  '2^53+1': `data: {"choices":[],"usage":{"prompt_tokens":9007199254740993,"completion_tokens":9007199254740993}}\n\n`,
  text: usageEvent(WORDS, usage('10', 'many')),
  null: usageEvent(WORDS, usage(null, null)),
  'an array': usageEvent(WORDS, []),
  'twice, first too little': usageEvent(WORDS, usage(10, 1)) + usageEvent(WORDS),
  'no JSON': 'data: {"choices":[],"usage":{"prompt_tokens":1\n\n',
}

export const u6: Fault = {
  id: 'U6',
  world: 'single',
  isQuick: true,
  title: `the provider's usage is ${Object.keys(USAGES).join(', ')}, or comes before the words`,
  promise:
    'No charge is negative, fractional or above what was held; figures that cannot be are replaced by our own count.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    for (const [what, event] of Object.entries(USAGES)) {
      const customer = await stage.customer()
      const seen = await sendScripted(stage, (exchange) => write(exchange, event), {
        ...{
          customer,
          model: 'strange',
          stream: true,
          words: WORDS,
          format: stage.random.pick(['chat-completions', 'messages']),
        },
      })
      const isWell = seen.ending === 'complete' || seen.ending === 'error-event'
      stage.expect(isWell, `usage ${what}: ended ${seen.ending}`)
    }
    const early = await sendScripted(stage, writeEarly, {
      customer: await stage.customer(),
      model: 'strange',
      stream: true,
      words: WORDS,
    })
    stage.expect(early.ending === 'complete', `usage before the words: ended ${early.ending}`)
    await stage.lift(() => undefined)
  },
}

async function write({ call, answer, bill }: Exchange, usageText: string): Promise<void> {
  answer.head(200, EVENT_STREAM)
  bill('input', BILLED_INPUT_TOKENS)
  for (let index = 0; index < WORDS; index++) {
    bill('output', 1)
    await answer.write(chunkEvent({ content: wordOf(call.marker, index) }))
  }
  await answer.write(chunkEvent({}, 'stop') + usageText)
  await answer.write('data: [DONE]\n\n')
  answer.end()
}

/** Usage in every chunk, as some providers state it: true only at that moment. */
async function writeEarly({ call, answer, bill }: Exchange): Promise<void> {
  answer.head(200, EVENT_STREAM)
  bill('input', BILLED_INPUT_TOKENS)
  for (let index = 0; index < WORDS; index++) {
    bill('output', 1)
    const delta = { content: wordOf(call.marker, index) }
    const choices = [{ index: 0, delta, finish_reason: null }]
    await answer.write(
      dataEvent({
        id: 'x',
        object: 'chat.completion.chunk',
        model: 'scripted',
        created: 1,
        choices,
        usage: usageOf(index + 1),
      }),
    )
  }
  await answer.write(chunkEvent({}, 'stop'))
  await answer.write('data: [DONE]\n\n')
  answer.end()
}
