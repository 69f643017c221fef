/** Made-up answers that a stream can say in full: every kind of block, several choices, with and without usage. */
import { fc } from '@test/support/property'
import { FORMAT_NAMES } from '@/chat/format-name'
import type { Signature } from '@/chat/request'
import type { AnswerBlock, ChatResponse, Choice, FinishReason } from '@/chat/response'
import type { Usage } from '@/chat/usage'

const text = fc.string({ maxLength: 12, unit: 'grapheme' })
const count = fc.nat(10_000)

const signature: fc.Arbitrary<Signature> = fc.record({ format: fc.constantFrom(...FORMAT_NAMES), value: text })
const sometimesSigned = fc.record({ signature }, { requiredKeys: [] })

const block: fc.Arbitrary<AnswerBlock> = fc.oneof(
  fc.tuple(text, sometimesSigned).map(([words, signed]) => ({ type: 'text' as const, text: words, ...signed })),
  text.map((words) => ({ type: 'refusal' as const, text: words })),
  fc.tuple(text, sometimesSigned).map(([words, signed]) => ({ type: 'reasoning' as const, text: words, ...signed })),
  signature.map((redacted) => ({ type: 'reasoning' as const, text: '', redacted })),
  fc
    .tuple(text, text, text, sometimesSigned)
    .map(([id, name, argumentsText, signed]) => ({ type: 'tool-call' as const, id, name, argumentsText, ...signed })),
  text.map((data) => ({
    type: 'image' as const,
    source: { type: 'base64' as const, mediaType: 'image/png', data },
  })),
)

const finish: fc.Arbitrary<FinishReason> = fc.record(
  { kind: fc.constantFrom('stop', 'stop-sequence', 'length', 'tool-calls', 'content-filter', 'error'), raw: text },
  { requiredKeys: ['kind'] },
)

const usage: fc.Arbitrary<Usage> = fc.record({
  uncached: count,
  cacheRead: count,
  cacheWrite5m: count,
  cacheWrite1h: count,
  output: count,
  reasoning: count,
})

const choices: fc.Arbitrary<Choice[]> = fc
  .uniqueArray(fc.nat(5), { maxLength: 3 })
  .chain((indexes) =>
    fc.tuple(
      ...indexes
        .sort((left, right) => left - right)
        .map((index) => fc.record({ index: fc.constant(index), content: fc.array(block, { maxLength: 5 }), finish })),
    ),
  )

/** Choices stand in the order of their index, as they do in every answer that was folded. */
export const response: fc.Arbitrary<ChatResponse> = fc.record({
  id: text,
  created: count,
  model: text,
  choices,
  usage: fc.option(usage),
})
