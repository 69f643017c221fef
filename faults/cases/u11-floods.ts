/** The provider sends too slowly, too much, for ever, or somewhere else. */
import { gzipSync } from 'node:zlib'
import type { Fault } from '@faults/fault'
import { MAX_OUTPUT_TOKENS } from '@faults/world/catalog-file'
import type { Sighting } from '@faults/world/client'
import type { Exchange } from '@faults/world/exchange'
import { BILLED_INPUT_TOKENS, chunkEvent, EVENT_STREAM, wordOf } from '@faults/world/scripts'
import { withDeadline } from '@/lib/deadline'
import { sendScripted } from './scripted'

type Case = {
  what: string
  model: string
  stream: boolean
  play(exchange: Exchange): Promise<void>
  isAsPromised(seen: Sighting): boolean
}

const BOMB_BYTES = 100 * 1024 * 1024
const HEADER_BYTES = 2 * 1024 * 1024
/** An answer this far beyond its limit is no answer. */
const ENDLESS_WORDS = 40 * MAX_OUTPUT_TOKENS
const MAX_TOKENS = 100

const REDIRECTIONS = [
  [301, 'http'],
  [302, 'http'],
  [307, 'http'],
  [308, 'http'],
  [307, 'file'],
] as const

const isRefused = ({ status }: Sighting) => status === 502 || status === 504

const CASES: readonly Case[] = [
  {
    what: 'one byte at a time, for ever',
    model: 'brisk',
    stream: true,
    async play({ answer }) {
      answer.head(200, EVENT_STREAM)
      while (!answer.isGone()) {
        await answer.write(':')
        await withDeadline(answer.gone, 200, () => undefined)
      }
    },
    isAsPromised: isRefused,
  },
  {
    what: 'words without end',
    model: 'flood',
    stream: true,
    async play({ call, answer, bill }) {
      answer.head(200, EVENT_STREAM)
      bill('input', BILLED_INPUT_TOKENS)
      for (let index = 0; index < ENDLESS_WORDS && !answer.isGone(); index++) {
        bill('output', 1)
        await answer.write(chunkEvent({ content: wordOf(call.marker, index) }))
      }
      await answer.gone
    },
    isAsPromised: ({ ending, text }) => ending === 'complete' && text.split(' ').length < ENDLESS_WORDS,
  },
  {
    what: `a compressed body of ${BOMB_BYTES} bytes`,
    model: 'flood',
    stream: false,
    async play({ answer }) {
      const bomb = gzipSync(Buffer.alloc(BOMB_BYTES, 'x'))
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      answer.head(200, headers, { kind: 'length', bytes: bomb.length })
      await answer.write(bomb)
      answer.end()
    },
    isAsPromised: isRefused,
  },
  {
    what: `a header of ${HEADER_BYTES} bytes`,
    model: 'flood',
    stream: false,
    async play({ answer }) {
      answer.head(200, { 'content-type': 'application/json', 'x-long': 'x'.repeat(HEADER_BYTES) })
      answer.end()
    },
    isAsPromised: isRefused,
  },
  ...REDIRECTIONS.map(
    ([status, scheme]): Case => ({
      what: `a redirection (${status}, ${scheme})`,
      model: 'flood',
      stream: false,
      async play({ answer, call }) {
        const host = call.headers.get('host') ?? ''
        const location = scheme === 'file' ? 'file:///etc/hostname' : `${scheme}://${host}/stolen`
        answer.head(status, { location }, { kind: 'length', bytes: 0 })
        answer.end()
      },
      isAsPromised: isRefused,
    }),
  ),
]

export const u11: Fault = {
  id: 'U11',
  world: 'single',
  title: 'the provider sends a byte at a time, words without end, a compressed bomb, a giant header, a redirection',
  promise: 'Each is cut at its own limit; no more than was held is charged; our key follows no redirection.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    const marked = new Set<string>()
    for (const { what, model, stream, play, isAsPromised } of CASES) {
      const customer = await stage.customer()
      const wish = { customer, model, stream, words: ENDLESS_WORDS, maxTokens: MAX_TOKENS }
      const seen = await sendScripted(stage, play, wish)
      if (what === 'words without end') marked.add(seen.marker)
      stage.expect(
        isAsPromised(seen),
        `${what}: ended ${seen.ending} ${seen.status} after ${seen.text.length} characters`,
      )
    }
    // What the provider wrote beyond the limit that it was given is between it and us.
    stage.tolerance.waived = marked
    stage.tolerance.shortened = marked
    const stolen = stage.world.upstream.calls.filter(({ path }) => path === '/stolen')
    stage.expect(stolen.length === 0, `${stolen.length} calls followed a redirection`)
    await stage.lift(() => undefined)
  },
}
