/** Runs one tool loop through the gateway and holds what the provider is asked next against the round trip's declaration. */
import { modelAt, startTrio } from '@test/clients/trio'
import type { TestGateway } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { JsonObject, JsonValue } from '@/lib/json'
import { bareTurn, ROUND_TRIPS, type RoundTrip } from './cases/round-trips'
import { TEXT } from './cases/words'
import { LOOPS } from './conversations'
import { differences } from './expectation'
import { respondWith } from './provider'
import { objects } from './read/reading'

type RoundTripCell = {
  trip: RoundTrip
  client: FormatName
  /** Who is asked with the history. */
  second: FormatName
  keeps: 'whole' | 'bare'
  isVisible: boolean
  isStream: boolean
}

export const ROUND_TRIP_CELLS: readonly RoundTripCell[] = ROUND_TRIPS.flatMap((trip) =>
  FORMAT_NAMES.flatMap((client) =>
    FORMAT_NAMES.flatMap((second) =>
      (['whole', 'bare'] as const).flatMap((keeps) =>
        [true, false].flatMap((isVisible) =>
          [true, false].map((isStream): RoundTripCell => ({ trip, client, second, keeps, isVisible, isStream })),
        ),
      ),
    ),
  ),
)

export type RoundTripGateway = { gateway: TestGateway; keyFor(cell: RoundTripCell): Promise<string> }

/**
 * A gateway with one model per format, named after it. Each trip has a customer per client, mode and visibility: the gateway keeps
 * signatures by account and call, so another's stored signature would hide that this cell stored none.
 */
export async function startRoundTripGateway(): Promise<RoundTripGateway> {
  const gateway = await startTrio({ quirks: { messages: ['adaptive-thinking'] } })
  const keys = new Map<string, string>()
  return {
    gateway,
    async keyFor({ trip, client, isStream, isVisible }) {
      const name = `${trip.name} ${client} ${isStream} ${isVisible}`
      const key = keys.get(name) ?? (await gateway.customer('100')).key
      keys.set(name, key)
      return key
    },
  }
}

/** Runs the loop; what is not as declared comes back as complaints. */
export async function runRoundTrip({ gateway, keyFor }: RoundTripGateway, cell: RoundTripCell): Promise<string[]> {
  const { trip, client, second, keeps, isVisible, isStream } = cell
  const calls: UpstreamCall[] = []
  gateway.upstream.respond((call) => {
    calls.push(call)
    const isFirst = calls.length === 1
    return isFirst ? respondWith(trip.answer, trip.signedBy, isStream) : respondWith(TEXT, second, isStream)
  })
  const options = { baseUrl: gateway.url, key: await keyFor(cell), isStream, isVisible, keeps }
  await LOOPS[client](options, modelAt(trip.signedBy), modelAt(second))
  const body = namedIds((calls[1]?.body ?? {}) as JsonObject)
  const answered = trip.cities.map((_, index) => (hasNoIds(cell) ? null : `ID${index + 1}`))
  return [
    ...differences(expectedTurn(cell), assistantTurn(second, body), 'the assistant’s turn'),
    ...differences(answered, resultIds(second, body), 'the results'),
    ...(second === trip.signedBy ? [] : findProofs(trip, JSON.stringify(body))),
  ]
}

/** A client of the signer's own format that throws its proofs away gets none back: that is between those two. */
function isSignedAgain({ trip, client, second, keeps }: Omit<RoundTripCell, 'isVisible' | 'isStream'>): boolean {
  return second === trip.signedBy && !(client === second && keeps === 'bare')
}

function expectedTurn(cell: RoundTripCell): JsonValue[] {
  const { trip, second } = cell
  const turn: JsonValue[] = isSignedAgain(cell) ? trip.own : bareTurn(second, trip.cities)
  return hasNoIds(cell) ? JSON.parse(JSON.stringify(turn).replace(/"id":"ID\d",/g, '')) : turn
}

/** Between a client and a provider of generate-content, calls need no ids, and one of the fixtures names none. */
function hasNoIds({ trip, client, second }: RoundTripCell): boolean {
  const isOneFormat = [trip.signedBy, client, second].every((format) => format === 'generate-content')
  return isOneFormat && !trip.answer.fixture.endsWith('with-id')
}

function findProofs({ proofs }: RoundTrip, text: string): string[] {
  const spellings = proofs.flatMap((proof) => [proof, Buffer.from(proof).toString('base64').slice(0, -4)])
  return [...spellings, 'svc.'].filter((proof) => text.includes(proof)).map((proof) => `${proof} reached a stranger`)
}

/** The ids that the results name, in order. */
function resultIds(provider: FormatName, body: JsonObject): JsonValue[] {
  if (provider === 'chat-completions') {
    return objects(body.messages).flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))
  }
  if (provider === 'responses') {
    return objects(body.input).flatMap(({ type, call_id: id }) => (type === 'function_call_output' ? [id ?? null] : []))
  }
  if (provider === 'messages') {
    return objects(objects(body.messages).at(-1)?.content).map(({ tool_use_id: id }) => id ?? null)
  }
  const responses = objects(objects(body.contents).at(-1)?.parts).map((part) => part.functionResponse as JsonObject)
  return responses.map(({ id }) => id ?? null)
}

/** What the assistant said, without what is no call and no proof: texts and unsigned thoughts. */
function assistantTurn(provider: FormatName, body: JsonObject): JsonValue[] {
  const message = objects(body.messages).find(({ role }) => role === 'assistant')
  if (provider === 'chat-completions') return objects(message?.tool_calls)
  if (provider === 'messages') return objects(message?.content)
  if (provider === 'responses') {
    const own = objects(body.input).filter(({ type }) => type === 'reasoning' || type === 'function_call')
    // Between a client and a provider of the format they also have a state, and thoughts their summary.
    return own.map(({ status: _, summary: _summary, ...item }) => item)
  }
  const content = objects(body.contents).find(({ role }) => role === 'model')
  return objects(content?.parts).filter((part) => part.text === undefined || part.thoughtSignature !== undefined)
}

/** Ids in order of their first appearance as `ID1`, `ID2`, so that minted ones can be compared. */
function namedIds(body: JsonObject): JsonObject {
  let text = JSON.stringify(body)
  const ids = new Set([...text.matchAll(/"(?:call_)?id":"((?!rs_)[^"]+)"/g)].map((match) => match[1] ?? ''))
  for (const [index, id] of [...ids].entries()) text = text.replaceAll(`"${id}"`, `"ID${index + 1}"`)
  return JSON.parse(text)
}
