/** The provider that all neighbours share: as slow as a good one, with words that make it limit a request or answer at length. */
import { soundAnswer } from '@test/gateway/scripted-models'
import { spend } from '@test/support/delays'
import { chatCompletion, type UpstreamCall } from '@test/support/upstream'

const PATIENT_MS = 200
/** A request that holds this is limited. */
export const LIMITED_WORDS = 'more than a minute allows'
/** One that holds this has a long answer. */
export const LONG_WORDS = 'tell me everything'
const LONG = JSON.stringify({ ...chatCompletion('Hello'), padding: 'x'.repeat(900_000) })
const JSON_HEADERS = { 'content-type': 'application/json' }
const LIMITED = { message: 'Rate limit reached for x on tokens per min (TPM).', code: 'rate_limit_exceeded' }

/** Answers one call in chat-completions. */
export async function answerPatiently({ text, body }: UpstreamCall): Promise<Response> {
  if (text.includes(LIMITED_WORDS)) return Response.json({ error: LIMITED }, { status: 429 })
  await spend(PATIENT_MS)
  return text.includes(LONG_WORDS)
    ? new Response(LONG, { headers: JSON_HEADERS })
    : soundAnswer('chat-completions', body.stream === true)
}
