/** The cases: generated and recorded streams, every pair of client and provider, every cut, every way to the answer. */
import { join } from 'node:path'
import { type Recording, readRecordings } from '@test/clients/recorded/recordings'
import { createRandom, type Random } from '@test/fuzz/random'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { CUTS, type Cut } from './cuts'
import { TELL } from './providers/index'
import { randomScript, type Said, saidBy } from './script'
import { SLOW_PROVIDERS, type Way } from './world'

export type Case = {
  name: string
  client: FormatName
  provider: FormatName
  way: Way
  cut: Cut
  /** Its events, each with its blank line; and what cuts them. */
  events: readonly string[]
  random: Random
  /** What the generator wrote; undefined of a recording. */
  said: Said | undefined
}

type Pair = { client: FormatName; provider: FormatName }

const PAIRS: readonly Pair[] = FORMAT_NAMES.flatMap((client) => FORMAT_NAMES.map((provider) => ({ client, provider })))
const FIXTURES = join(import.meta.dir, '..', 'fixtures')
/** Answers that end badly, or that have no word in some formats: the matrix says of each the outcome of it. */
const ODD = /cut|error|overload|length|filtered|empty|image|no-usage|two-answers|stop-sequence|pause|redacted|hidden/
/** Every way of cutting has streams that are longer than what is ever held back, by number. */
const SIZES = [1, 10, 63, 64, 65, 66, 130, 300]

/** The pairs once for each cut, and once for each other way; in their order, `most` of them. */
export function smallCases(seed: number): Case[] {
  const plain = PAIRS.flatMap((pair, row) =>
    CUTS.map((cut, column) => generated(seed + row * CUTS.length + column, pair, 'plain', cut, SIZES)),
  )
  const others = PAIRS.flatMap((pair, row) =>
    (['late', 'hedged', 'beside'] as const).flatMap((way, column) => {
      const cut = CUTS[(row + column) % CUTS.length] as Cut
      return way === 'beside' && row % 4 !== column % 4
        ? []
        : [generated(seed + 1_000 + 3 * row + column, pair, way, cut, SIZES)]
    }),
  )
  return [...plain, ...recordedCases(seed), ...others]
}

/** `count` random ones, of up to 5,000 pieces. */
export function manyCases(seed: number, count: number): Case[] {
  const besides = 4 * SLOW_PROVIDERS
  let beside = 0
  const cases = Array.from({ length: count }, (_, index) => {
    const random = createRandom(seed + index)
    const isOther = random.once(20)
    const way: Way = random.once(10)
      ? 'late'
      : !isOther
        ? 'plain'
        : random.once(2) && beside++ < besides
          ? 'beside'
          : 'hedged'
    const sizes = random.once(10) ? [1_000, 5_000] : random.once(2) ? SIZES : [1 + random.below(400)]
    return generated(seed + index, random.pick(PAIRS), way, random.pick(CUTS), sizes)
  })
  return [...cases, ...recordedCases(seed)]
}

function generated(seed: number, { client, provider }: Pair, way: Way, cut: Cut, sizes: readonly number[]): Case {
  const random = createRandom(seed)
  const pieces = random.pick(sizes)
  const script = randomScript(random, pieces, provider === 'chat-completions' || provider === 'responses')
  const lineEnd = random.pick(['\n', '\r\n'])
  const events = TELL[provider](script, random).map((event) => event.replaceAll('\n', lineEnd))
  const name = `${client} from ${provider}, ${way}, cut: ${cut}, ${pieces} pieces, ${JSON.stringify(lineEnd)} (${seed})`
  return { name, client, provider, way, cut, events, random, said: saidBy(script) }
}

/** Each recording for each client, cut in one way. */
function recordedCases(seed: number): Case[] {
  const random = createRandom(seed)
  const recordings = readRecordings(FIXTURES).filter(
    ({ name, mode }) => mode === 'stream' && name.includes('/matrix/') && !ODD.test(name),
  )
  return recordings.flatMap((recording) =>
    FORMAT_NAMES.map((client) => recorded(recording, client, random.pick(CUTS), random)),
  )
}

function recorded({ name, provider, text }: Recording, client: FormatName, cut: Cut, random: Random): Case {
  const lineEnd = random.pick(['\n', '\r\n'])
  const blocks = text.replaceAll('\r\n', '\n').split(/(?<=\n\n)/)
  const events = blocks.map((block) => block.replaceAll('\n', lineEnd))
  const label = `${client} from ${name}, cut: ${cut}, ${JSON.stringify(lineEnd)}`
  return { name: label, client, provider, way: 'plain', cut, events, random, said: undefined }
}
