/** Skipping similar stream events, compared with decoding each: client and meter get the same, for every pair of formats and split. */
import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { createTestAnswer, formatOf, type TestAnswer } from '@test/gateway/answer-parts'
import { fc } from '@test/support/property'
import type { ChatEvent } from '@/chat/event'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { jsonArrayFraming } from '@/formats/generate-content/framing'
import { RepeatPattern, type StreamItem } from '@/gateway/attempt/repeats'
import { openStreamSource } from '@/gateway/attempt/stream-source'
import { StreamWriter, type Written } from '@/gateway/relay/stream-writer'
import { createSignatureCollector, type SignatureCollector } from '@/gateway/signatures/signature-collector'
import { assert } from '@/lib/assert'
import { parseJson } from '@/lib/json'
import { SseParser } from '@/lib/streams/sse'
import type { UpstreamAnswer } from '@/upstream/answer'

/** What a provider says in each event beside the words: nothing, as real ones do, or as none should. */
type Extras = 'none' | 'usual' | 'odd'
type Case = { provider: FormatName; client: FormatName; isArray: boolean; pieces: Uint8Array[] }

/** Words that JSON writes as they are, and all that it does not; some that stand elsewhere in a piece as well. */
const word = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[ a-z]{1,6}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '"', '\\', '\n', '\u007f', '\u2028', 'ü', '世界', '😀', '\uFEFF', '\uFFFD'),
  },
  { weight: 1, arbitrary: fc.constantFrom('model', 'content', 'assistant', 'text', 'data: ', '[DONE]', 'stop', '0') },
  { weight: 1, arbitrary: fc.string() },
)
const run = fc.record({ kind: fc.constantFrom('text', 'reasoning'), words: fc.array(word, { maxLength: 12 }) })
/** What is put between two events, or done to one of them. */
const disturbance = fc.record({
  at: fc.nat(40),
  kind: fc.constantFrom('comment', 'crlf', 'letter', 'field', 'twice', 'bytes', 'none'),
  place: fc.nat(200),
})

/** As written in an event: padding that is a plain string or not, and counts that grow, or are none. */
const odd = {
  padding: ['""', '"a"', '"a\\n"', '"\\u0061"', 'null', '7', '{"obfuscation":"a"}', '"text"', '"stop"', '"ü"'],
  count: ['0', '1', '7', '7.0', '-1', '1e2', '"7"', 'null', '01', '999999999999999', '9007199254740993', '{"count":7}'],
}

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    provider: fc.constantFrom(...FORMAT_NAMES),
    client: fc.constantFrom(...FORMAT_NAMES),
    isArray: fc.boolean(),
    runs: fc.array(run, { minLength: 1, maxLength: 4 }),
    disturbances: fc.array(disturbance, { maxLength: 3 }),
    extras: fc.constantFrom<Extras[]>('none', 'usual', 'usual', 'odd'),
    seed: fc.nat(1_000),
    /** How many of the last events have none. */
    silent: fc.constantFrom(0, 0, 1, 4),
    share: fc.constantFrom(1, 1, 0.8, 0.5),
    isWhole: fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
    cuts: fc.array(fc.nat(4_000), { maxLength: 6 }),
  })
  .map(({ runs, disturbances, extras, seed, silent, share, isWhole, cuts, ...rest }) => {
    const plain = framesOf(rest.provider, runs)
    const frames = plain.map((frame, index) =>
      index + silent < plain.length ? withExtras(frame, rest.provider, extras, seed + index) : frame,
    )
    const wire = disturbed(frames, disturbances)
    let end = 0
    const ends = wire.map((frame) => (end += frame.length))
    // A stream that breaks off leaves the meter with what was counted by then.
    const bytes = Buffer.concat(wire).subarray(0, Math.ceil(end * share))
    const pieces = cut(bytes, [...ends.filter((_, index) => isWhole[index % isWhole.length]), ...cuts])
    return { ...rest, pieces }
  })

/** The events of an answer as a provider of the format writes them, one frame each. */
function framesOf(provider: FormatName, runs: { kind: string; words: string[] }[]): string[] {
  const format = formatOf(provider)
  const context = { ...createTestAnswer().context, model: 'alpha-upstream' }
  const encoder = format.createStreamEncoder(context)
  const events: ChatEvent[] = [{ type: 'start', id: 'x', model: 'alpha-upstream', created: 0 }]
  for (const [block, { kind, words }] of runs.entries()) {
    const at = { choice: 0, block }
    const name = kind as 'text' | 'reasoning'
    events.push({ type: `${name}-start`, ...at })
    for (const text of words) events.push({ type: `${name}-delta`, ...at, text })
    events.push({ type: `${name}-end`, ...at })
  }
  events.push({ type: 'finish', choice: 0, finish: { kind: 'stop' } })
  const frames = [...events.flatMap((event) => encoder.push(event)), ...encoder.end()]
  return frames.map((frame, index) => format.framing.format(frame, index))
}

/** The frame with padding and counts as `seed`, which grows along the stream, has them; messages have none in each event. */
function withExtras(frame: string, provider: FormatName, extras: Extras, seed: number): string {
  if (extras === 'none' || provider === 'messages' || !frame.includes('{')) return frame
  const isOdd = extras === 'odd' && seed % 3 > 0
  const pick = (list: string[], salt: number) => list[(seed * 7 + salt * 5) % list.length] ?? ''
  const count = (salt: number) => (isOdd ? pick(odd.count, salt) : String(seed + salt))
  if (provider === 'responses') {
    const padding = isOdd ? pick(odd.padding, 0) : JSON.stringify('Zx9'.repeat(seed % 5))
    const numbered = isOdd ? frame.replace(/("sequence_number":)\d+/, `$1${pick(odd.count, 1)}`) : frame
    return numbered.replace(/\}\s*$/, (end) => `,"obfuscation":${padding}${end}`)
  }
  if (provider === 'generate-content') {
    const counts = `"candidatesTokenCount":${count(3)},"thoughtsTokenCount": ${count(1)},"totalTokenCount":${count(9)}`
    return frame.replace('{', `{"usageMetadata":{"promptTokenCount":5,${counts}},`)
  }
  const details = `"completion_tokens_details":{"reasoning_tokens":${count(1)}}`
  const counts = `"completion_tokens":${count(2)},"total_tokens":${count(7)}`
  const padding = isOdd ? pick(odd.padding, 0) : JSON.stringify('Zx9'.repeat(seed % 5))
  return frame
    .replace('"usage":null', `"usage":{"prompt_tokens":5,${counts},${details}}`)
    .replace(/\}\s*$/, (end) => `,"obfuscation":${padding}${end}`)
}

function disturbed(frames: string[], disturbances: { at: number; kind: string; place: number }[]): Buffer[] {
  const wire = frames.map((frame) => Buffer.from(frame))
  for (const { at, kind, place } of disturbances) {
    const index = at % wire.length
    const frame = wire[index] ?? Buffer.of()
    if (kind === 'comment') wire[index] = Buffer.concat([Buffer.from(': note\n\n'), frame])
    if (kind === 'crlf') wire[index] = Buffer.from(frame.toString().replaceAll('\n', '\r'))
    if (kind === 'letter' && frame.length > 0) frame[place % frame.length] = 0x7a
    if (kind === 'bytes' && frame.length > 0) frame[place % frame.length] = 0xe2
    if (kind === 'field') wire[index] = Buffer.from(frame.toString().replace('{', '{"extra":"a\\u0062",'))
    if (kind === 'twice') wire[index] = Buffer.concat([frame, frame])
  }
  return wire
}

function answerOf({ provider, client, isArray }: Case) {
  const changes = isArray && client === 'generate-content' ? { framing: jsonArrayFraming } : {}
  const answer = createTestAnswer({ client, provider, changes, outputBound: 100_000 })
  const signatures = createSignatureCollector()
  return { answer: Object.assign(answer, { signatures }), signatures }
}

type Told = { text: string; ending: unknown; reading: unknown; signed: unknown }

function toldOf(text: string, written: Written, answer: TestAnswer, signatures: SignatureCollector): Told {
  const ending = written.state === 'failed' ? written.failure : written.state
  return { text, ending, reading: answer.charge.meter.reading(), signed: [...signatures.signedCalls()] }
}

/** Every event decoded and written by itself: what has to come of it. */
function longWay(input: Case): Told {
  const { answer, signatures } = answerOf(input)
  const writer = new StreamWriter(answer, true)
  const parser = new SseParser()
  const decoder = formatOf(input.provider).createStreamDecoder()
  let text = ''
  const told = (written: Written) => toldOf(text, written, answer, signatures)
  const open = parser.push(Buffer.concat(input.pieces))
  const rest = parser.end().map((sse) => ({ ...sse, raw: /^[\r\n]*$/.test(sse.raw) ? sse.raw : `${sse.raw}\n\n` }))
  for (const sse of [...open, ...rest]) {
    const json = sse.data === undefined ? undefined : parseJson(sse.data)
    const items = [{ sse, json, events: sse.data === undefined ? [] : decoder.push(sse, json) }]
    const written = writeAll(writer, answer, { kind: 'items', items })
    text += written.text
    if (written.state !== 'open') return told(written)
  }
  const written = writer.finish(decoder.end())
  text += written.text
  return told(written)
}

/** As the relay does it, in pieces. */
async function shortWay(input: Case): Promise<Told & { repeats: number }> {
  const { answer, signatures } = answerOf(input)
  const writer = new StreamWriter(answer, true)
  let [text, repeats, at] = ['', 0, 0]
  const read: UpstreamAnswer['read'] = async () => {
    const bytes = input.pieces[at++]
    return bytes ? { kind: 'bytes', bytes } : { kind: 'done' }
  }
  const source = openStreamSource({ read } as Partial<UpstreamAnswer> as UpstreamAnswer, formatOf(input.provider))
  for (;;) {
    const batch = await source.next()
    assert(batch.kind !== 'failed', 'no piece is too large')
    repeats += batch.kind === 'items' ? (batch.repeats?.pieces.length ?? 0) : 0
    const written = writeAll(writer, answer, batch)
    text += written.text
    if (written.state === 'open') continue
    return { ...toldOf(text, written, answer, signatures), repeats }
  }
}

/** The batch, with the rest of it until the answer has been counted: here nobody can. */
function writeAll(
  writer: StreamWriter,
  { charge }: Pick<TestAnswer, 'charge'>,
  batch: Parameters<StreamWriter['writeBatch']>[0],
): Written {
  const written = writer.writeBatch(batch)
  if (written.state !== 'uncounted') return written
  charge.counted = { tokens: undefined, ofGuess: charge.meter.reading().countedOutput }
  const more = writeAll(writer, { charge }, written.rest)
  return { ...more, text: written.text + more.text }
}

function cut(wire: Uint8Array, cuts: number[]): Uint8Array[] {
  const ends = [...new Set([...cuts.map((end) => end % wire.length), wire.length])].sort((a, b) => a - b)
  return ends.map((end, index) => wire.slice(ends[index - 1] ?? 0, end)).filter((piece) => piece.length > 0)
}

/**
 * The LF of a CRLF that was cut in two goes down with the event that it came with, where that one is broken. Ids that we make up are
 * other ones each time: what counts is where they are the same.
 */
function comparable(told: Told): Told {
  const ids: string[] = []
  const text = told.text.replace(OWN_ID, (id) => `own-${ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1}`)
  return { ...told, text: told.ending === 'complete' ? text : text.replace(/[\r\n]+$/, '') }
}

const OWN_ID = /\b(?:msg|rs)_[0-9A-Za-z]{22}\b/g

async function expectSame(input: Case): Promise<number> {
  const { repeats, ...told } = await shortWay(input)
  expect(comparable(told)).toEqual(comparable(longWay(input)))
  return repeats
}

describe('skipping similar events', () => {
  // A completed response names its second: the clock stands still, so that both ways name the same one.
  beforeAll(() => void setSystemTime(new Date('2026-01-02T03:04:05Z')))
  afterAll(() => void setSystemTime())
  test('skipping similar events gives client and meter the same as decoding them, for every pair of formats and any split', async () => {
    let repeats = 0
    await fc.assert(
      fc.asyncProperty(anyCase, async (input) => {
        repeats += await expectSame(input)
      }),
      { numRuns: 400 },
    )
    expect(repeats).toBeGreaterThan(400)
  })

  for (const provider of FORMAT_NAMES) {
    for (const client of FORMAT_NAMES) {
      test(`skipping similar events gives the same if each event of ${provider} for ${client} has padding and counts`, async () => {
        const words = 'some words of an answer that goes on for long enough'.split(' ')
        const frames = framesOf(provider, [{ kind: 'text', words }])
        const pieces = frames.map((frame, index) => Buffer.from(withExtras(frame, provider, 'usual', 10 + index)))
        expect(await expectSame({ provider, client, isArray: false, pieces })).toBeGreaterThan(words.length - 4)
      })
    }

    test(`skipping similar events gives the same if a ${provider} stream is cut at any byte`, async () => {
      const runs = [
        { kind: 'text', words: ['Hel', 'lo ', 'wor', 'ld', ' ü', ' 😀', '"', 'and', ' on', ' it', ' goes'] },
      ]
      const wire = Buffer.concat(disturbed(framesOf(provider, runs), []))
      for (let end = 1; end < wire.length; end++) {
        await expectSame({ provider, client: 'chat-completions', isArray: false, pieces: cut(wire, [end]) })
      }
    })
  }
})

describe('the pattern of similar events', () => {
  const at = { choice: 0, block: 0 }
  const item = (text: string, raw = `data: {"a":"b","t":"${text}"}\n\n`): StreamItem => ({
    ...{ sse: { event: undefined, data: raw.slice(6).trim(), raw }, json: undefined },
    events: [{ type: 'text-delta', ...at, text }],
  })

  test('two successive events that differ only in texts form a pattern, which recognizes later events', () => {
    const pattern = new RepeatPattern({})
    pattern.learn(item('one'))
    expect(pattern.find(item('two').sse.raw)).toBeUndefined()
    pattern.learn(item('one'))
    expect(pattern.find(item('two').sse.raw)).toBeUndefined()
    pattern.learn(item('two'))
    const found = pattern.find(`${item('three').sse.raw}${item('four').sse.raw}data: {"a":`)
    expect(found?.repeats.pieces.map(({ text }) => text)).toEqual(['three', 'four'])
    expect(found?.end).toBe(item('three').sse.raw.length + item('four').sse.raw.length)
  })

  test('a different event ends the pattern of similar events', () => {
    const pattern = new RepeatPattern({})
    pattern.learn(item('one'))
    pattern.learn(item('two'))
    pattern.learn({ ...item('three'), events: [] })
    expect(pattern.find(item('four').sse.raw)).toBeUndefined()
  })

  test.each(['b', '', 'a"', 'a\\n'])('no pattern is formed from %j', (text) => {
    const pattern = new RepeatPattern({})
    pattern.learn(item('one'))
    pattern.learn(item(text))
    expect(pattern.find(item('two').sse.raw)).toBeUndefined()
  })

  test.each(['a\\"b', 'a\tb', ''])('the pattern does not match %j', (text) => {
    const pattern = new RepeatPattern({})
    pattern.learn(item('one'))
    pattern.learn(item('two'))
    expect(pattern.find(item(text).sse.raw)).toBeUndefined()
  })
})
