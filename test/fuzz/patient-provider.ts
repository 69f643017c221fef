/**
 * The provider that all neighbours share, in a process of its own, so that what it does with a long body isn't taken for the gateway's
 * work: as slow as a good one, with words that make it limit a request or answer at length. Started by gateway-process.ts.
 */
import { soundAnswer } from '@test/gateway/scripted-models'
import { spend } from '@test/support/delays'
import { chatCompletion, chatStream } from '@test/support/upstream'
import { LIMITED_WORDS, LONG_WORDS, SLOW_WORDS, signedAnswer } from './provider'

const PATIENT_MS = 200
const SLOW_MS = 3_000
/** Of 2 kB each, twenty times as fast as the fastest model writes. */
const STREAM_EVENTS = 500
const EVENT_MS = 20
const LONG = JSON.stringify({ ...chatCompletion('Hello'), padding: 'x'.repeat(900_000) })
const JSON_HEADERS = { 'content-type': 'application/json' }
const LIMITED = { message: 'Rate limit reached for x on tokens per min (TPM).', code: 'rate_limit_exceeded' }
/** Longer bodies hold none of the words, and nobody looks for them there. */
const MOST_WORDS_BYTES = 64 * 1024

/** As many numbers as vectors have, each with all its digits, in base64, for each input. */
const NUMBERS = Float32Array.from({ length: 1_536 }, (_, index) => Math.sin(index + 1) / 39)
const VECTOR = Buffer.from(NUMBERS.buffer).toString('base64')

function embed({ input }: { input: unknown }): Response {
  const texts = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
  const data = texts.map((_, index) => ({ object: 'embedding', index, embedding: VECTOR }))
  return Response.json({ object: 'list', data, model: 'e', usage: { prompt_tokens: 7, total_tokens: 7 } })
}

/** Answers one call in chat-completions; those in messages with a thought that is signed. */
async function answerPatiently(request: Request): Promise<Response> {
  const bytes = await request.bytes()
  if (request.url.endsWith('/embeddings')) {
    await spend(PATIENT_MS)
    return embed(JSON.parse(new TextDecoder().decode(bytes)))
  }
  if (request.url.endsWith('/messages')) return signedAnswer()
  const text = bytes.length > MOST_WORDS_BYTES ? '' : new TextDecoder().decode(bytes)
  const isStream = text.includes('"stream":true')
  if (text.includes(SLOW_WORDS)) {
    if (isStream) return longStream()
    await spend(SLOW_MS)
  }
  if (text.includes(LIMITED_WORDS)) return Response.json({ error: LIMITED }, { status: 429 })
  await spend(PATIENT_MS)
  return text.includes(LONG_WORDS)
    ? new Response(LONG, { headers: JSON_HEADERS })
    : soundAnswer('chat-completions', isStream)
}

function longStream(): Response {
  const [first, word, ...rest] = chatStream(['So it goes. '.repeat(160)])
  const events = [first, ...Array.from({ length: STREAM_EVENTS }, () => word), ...rest].map((event) =>
    typeof event === 'string' ? event : JSON.stringify(event),
  )
  let sent = 0
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const event = events[sent++]
    await spend(EVENT_MS)
    if (event === undefined) controller.close()
    else controller.enqueue(new TextEncoder().encode(`data: ${event}\n\n`))
  }
  return new Response(new ReadableStream({ pull }), { headers: { 'content-type': 'text/event-stream' } })
}

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answerPatiently })
process.on('disconnect', () => process.exit(0))
process.send?.(`http://127.0.0.1:${server.port}`)
