/**
 * The provider that all neighbours share, in a process of its own, so that what it does with a long body isn't taken for the gateway's
 * work: as slow as a good one, with words that make it limit a request or answer at length. Started by gateway-process.ts.
 */
import { soundAnswer } from '@test/gateway/scripted-models'
import { spend } from '@test/support/delays'
import { chatCompletion } from '@test/support/upstream'
import { LIMITED_WORDS, LONG_WORDS } from './provider-words'

const PATIENT_MS = 200
const LONG = JSON.stringify({ ...chatCompletion('Hello'), padding: 'x'.repeat(900_000) })
const JSON_HEADERS = { 'content-type': 'application/json' }
const LIMITED = { message: 'Rate limit reached for x on tokens per min (TPM).', code: 'rate_limit_exceeded' }
/** Longer bodies hold none of the words, and nobody looks for them there. */
const MOST_WORDS_BYTES = 64 * 1024

/** Answers one call in chat-completions, in one piece. */
async function answerPatiently(request: Request): Promise<Response> {
  const bytes = await request.bytes()
  const text = bytes.length > MOST_WORDS_BYTES ? '' : new TextDecoder().decode(bytes)
  if (text.includes(LIMITED_WORDS)) return Response.json({ error: LIMITED }, { status: 429 })
  await spend(PATIENT_MS)
  return text.includes(LONG_WORDS)
    ? new Response(LONG, { headers: JSON_HEADERS })
    : soundAnswer('chat-completions', text.includes('"stream":true'))
}

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answerPatiently })
process.on('disconnect', () => process.exit(0))
process.send?.(`http://127.0.0.1:${server.port}`)
