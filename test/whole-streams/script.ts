/**
 * What a model says, in nobody's dialect: random steps of text, reasoning, refusals and tool calls, the calls one after another or
 * interleaved, in pieces of any size and any characters.
 */
import type { Random } from '@test/fuzz/random'
import type { JsonValue } from '@/lib/json'

/** One piece, in the order in which the model writes them. `call` is which of the calls it belongs to. */
export type Step =
  | { kind: 'text' | 'reasoning' | 'refusal'; text: string }
  | { kind: 'call'; call: number; text: string }

export type Script = {
  steps: Step[]
  /** In order of their first pieces. `arguments` is the JSON text that the pieces of each make. */
  calls: { id: string; name: string; arguments: string }[]
}

/** What a client is to have at the end. */
export type Said = { text: string; reasoning: string; calls: { name: string; arguments: JsonValue }[] }

/** What may be in a text: what takes several bytes or escapes, and what looks like the wire around it. */
const WORDS = [
  ...[
    'the ',
    'weather',
    ' in ',
    'Oslo ',
    'is',
    ' 42',
    '. ',
    'a',
    ' ',
    '"',
    '\\',
    '\n',
    '\r\n',
    '\t',
    '/',
    '</b>',
    '😀',
    '0',
  ],
  ...[
    'é',
    'ß',
    '日本語',
    '👩‍👩‍👧',
    '\u2028',
    '\u0085',
    '\ufeff',
    '\u0001',
    'data: ',
    '[DONE]',
    'event: x\n\n',
    '}{',
    '","',
    '\\u00e9',
    ': ping',
  ],
]

/** A script of about `pieces` pieces. */
export function randomScript(random: Random, pieces: number, canRefuse: boolean): Script {
  const script: Script = { steps: [], calls: [] }
  if (canRefuse && random.once(8)) {
    script.steps.push(...textSteps(random, 'refusal', pieces))
    return script
  }
  if (random.once(2)) script.steps.push(...textSteps(random, 'reasoning', Math.ceil(pieces / 4)))
  if (random.once(2)) script.steps.push(...textSteps(random, 'text', Math.ceil(pieces / 3)))
  const left = Math.max(1, pieces - script.steps.length)
  if (random.once(4)) script.steps.push(...textSteps(random, 'text', left))
  else addCalls(script, random, left)
  return script
}

/** A script of nothing but tool calls, of about `pieces` pieces. */
export function callScript(random: Random, pieces: number): Script {
  const script: Script = { steps: [], calls: [] }
  addCalls(script, random, pieces)
  return script
}

/** What a client is to have of it. */
export function saidBy({ steps, calls }: Script): Said {
  const joined = (...kinds: Step['kind'][]) =>
    steps.map(({ kind, text }) => (kinds.includes(kind) ? text : '')).join('')
  return {
    text: joined('text', 'refusal'),
    reasoning: joined('reasoning'),
    calls: calls.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) })),
  }
}

function textSteps(random: Random, kind: 'text' | 'reasoning' | 'refusal', pieces: number): Step[] {
  return Array.from({ length: Math.max(1, pieces) }, () => ({ kind, text: randomText(random, 1 + random.below(4)) }))
}

function randomText(random: Random, words: number): string {
  return Array.from({ length: words }, () => random.pick(WORDS)).join('')
}

function addCalls(script: Script, random: Random, pieces: number): void {
  const count = 1 + random.below(Math.min(4, pieces))
  const interleaves = random.once(2)
  const queues = Array.from({ length: count }, (_, index) => {
    const text = randomArguments(random, Math.ceil(pieces / count))
    const number = script.calls.push({
      id: `call_${index}_${random.below(1e9)}`,
      name: `tool_${index}`,
      arguments: text,
    })
    return cut(random, text).map((piece): Step => ({ kind: 'call', call: number - 1, text: piece }))
  })
  if (!interleaves) {
    for (const queue of queues) script.steps.push(...queue)
    return
  }
  // All begin in order, and end in order: which call is which in the end is no matter of chance.
  for (const queue of queues) script.steps.push(...queue.splice(0, 1))
  const last = queues.flatMap((queue) => queue.splice(-1, 1))
  for (
    let open = queues.filter(({ length }) => length > 0);
    open.length > 0;
    open = open.filter(({ length }) => length > 0)
  ) {
    script.steps.push(...random.pick(open).splice(0, 1 + random.below(3)))
  }
  script.steps.push(...last)
}

/** The JSON text of an object that is cut into about so many pieces. */
function randomArguments(random: Random, pieces: number): string {
  const values: Record<string, JsonValue> = {}
  const wanted = pieces * MEAN_PIECE_CHARS
  for (let size = 0, index = 0; size < wanted; index++) {
    const value = randomValue(random)
    values[`field ${index}`] = value
    size += JSON.stringify(value).length + 12
  }
  return JSON.stringify(values)
}

const MEAN_PIECE_CHARS = 6

function randomValue(random: Random): JsonValue {
  switch (random.below(5)) {
    case 0:
      return random.below(1e6) / 8
    case 1:
      return [randomText(random, 2), random.once(2), null]
    case 2:
      return { inner: { text: randomText(random, 3) } }
    default:
      return randomText(random, 1 + random.below(8))
  }
}

/** Pieces of 1 to 11 characters: with luck a piece ends inside an escape, or between the halves of a character. */
function cut(random: Random, text: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1) {
    pieces.push(text.slice(at, at + 1 + random.below(2 * MEAN_PIECE_CHARS - 1)))
  }
  return pieces
}
