/** A provider that calls a tool, and once it has the results says what of the conversation it was shown. */
import { answer } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { UpstreamCall } from '@test/support/upstream'
import type { FormatName } from '@/chat/format-name'
import { TOOL_DESCRIPTION, TOOL_RESULT } from './libraries/library'
import { speak } from './spoken'

export const SYSTEM = 'Speak of nothing but clouds.'
export const QUESTION = 'Where does it rain?'

const SHOWN = {
  question: QUESTION,
  'system prompt': SYSTEM,
  tools: TOOL_DESCRIPTION,
  calls: 'Oslo',
  results: TOOL_RESULT,
}

/** What the witness says where nothing was kept from it. */
export const SAW_ALL = `I saw: ${Object.keys(SHOWN).join(', ')}.`

/** Its answer to one call of the gateway. */
export function testify(format: FormatName, { path, body }: UpstreamCall): Response {
  const isStream = body.stream === true || path.includes(':streamGenerateContent')
  const text = JSON.stringify(body)
  if (!text.includes(TOOL_RESULT)) return respondWith(answer('tools-same-name'), format, isStream)
  const seen = Object.entries(SHOWN).filter(([, words]) => text.includes(words))
  return speak(format, isStream, `I saw: ${seen.map(([name]) => name).join(', ')}.`)
}
