/** Signed answers, and the history that each provider must see again when the client sends the tools' results. */

import type { Answer } from '@test/matrix/types'
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'
import { answer, USAGE } from './words'

/**
 * A tool loop. `signedBy` answers the first question; the second is asked of every provider. Call ids are written `ID1`,
 * `ID2` in order of appearance.
 */
export type RoundTrip = {
  name: string
  signedBy: FormatName
  answer: Answer
  /** The cities that the answer asks about, one call each. */
  cities: string[]
  /** The assistant's turn, as the provider that signed it must see it again. */
  own: JsonObject[]
  /** Every text that proves something: no other provider may ever see one of them. */
  proofs: string[]
}

const WEATHER = 'get_weather'
const used = { ...USAGE, reasoning: 4 }
const use = (id: string, city: string) => ({ type: 'tool_use', id, name: WEATHER, input: { city } })
const functionCall = (id: string, city: string, thoughtSignature?: string) => ({
  functionCall: { id, name: WEATHER, args: { city } },
  ...(thoughtSignature && { thoughtSignature }),
})

const callItem = (id: string, city: string) => ({
  type: 'function_call',
  call_id: id,
  name: WEATHER,
  arguments: JSON.stringify({ city }),
})
const thought = (encrypted: string) => ({
  type: 'reasoning',
  id: 'rs_68f1c0de000000000000000000000001',
  encrypted_content: encrypted,
})

export const ROUND_TRIPS: readonly RoundTrip[] = [
  {
    name: 'signed thoughts before parallel calls',
    signedBy: 'messages',
    answer: answer('signed-tools', { usage: used }),
    cities: ['Oslo', 'Rome'],
    own: [
      { type: 'thinking', thinking: 'Two cities.', signature: 'EqQBCgIYAhIM+/8=' },
      use('ID1', 'Oslo'),
      use('ID2', 'Rome'),
    ],
    proofs: ['EqQBCgIYAhIM+/8='],
  },
  {
    name: 'a signature of thoughts that are not shown',
    signedBy: 'messages',
    answer: answer('signed-hidden-tool', { usage: used }),
    cities: ['Oslo'],
    own: [{ type: 'thinking', thinking: '', signature: 'EqQBCgIYAhIM+/9=' }, use('ID1', 'Oslo')],
    proofs: ['EqQBCgIYAhIM+/9='],
  },
  {
    name: 'encrypted thoughts',
    signedBy: 'messages',
    answer: answer('redacted-tool', { usage: used }),
    cities: ['Oslo'],
    own: [{ type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' }, use('ID1', 'Oslo')],
    proofs: ['EmwKAhgBEgy3va3pzix'],
  },
  {
    name: 'a signature on the first of parallel calls, without ids',
    signedBy: 'generate-content',
    answer: answer('signed-tools', { usage: used }),
    cities: ['Oslo', 'Rome'],
    own: [functionCall('ID1', 'Oslo', 'CiQB0e2Kb+/8AQ=='), functionCall('ID2', 'Rome')],
    proofs: ['CiQB0e2Kb+/8AQ=='],
  },
  {
    name: 'a signature on a call with an id',
    signedBy: 'generate-content',
    answer: answer('signed-tool-with-id', { usage: used }),
    cities: ['Oslo'],
    own: [functionCall('ID1', 'Oslo', 'CiQB0e2Kb+/8Ag==')],
    proofs: ['CiQB0e2Kb+/8Ag=='],
  },
  {
    name: 'encrypted reasoning before parallel calls',
    signedBy: 'responses',
    answer: answer('signed-tools', { usage: used }),
    cities: ['Oslo', 'Rome'],
    own: [thought('gAAAAABo8cDf+two/cities=='), callItem('ID1', 'Oslo'), callItem('ID2', 'Rome')],
    proofs: ['gAAAAABo8cDf+two/cities=='],
  },
  {
    name: 'encrypted reasoning without a summary',
    signedBy: 'responses',
    answer: answer('signed-hidden-tool', { usage: used }),
    cities: ['Oslo'],
    own: [thought('gAAAAABo8cDf+hidden/city=='), callItem('ID1', 'Oslo')],
    proofs: ['gAAAAABo8cDf+hidden/city=='],
  },
]

/** The assistant's turn without any proof, as a provider that signed nothing of it must see it. */
export function bareTurn(provider: FormatName, cities: readonly string[]): JsonObject[] {
  return cities.map((city, index) => bareCall(provider, `ID${index + 1}`, city))
}

function bareCall(provider: FormatName, id: string, city: string): JsonObject {
  switch (provider) {
    case 'chat-completions':
      return { id, type: 'function', function: { name: WEATHER, arguments: JSON.stringify({ city }) } }
    case 'messages':
      return use(id, city)
    case 'generate-content':
      return functionCall(id, city)
    case 'responses':
      return callItem(id, city)
  }
}
