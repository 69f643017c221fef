/** Works out from a case's declarations what one cell must do: what is sent, received, seen and paid. */
import type { FormatName } from '@/chat/format-name'
import { inputTokens, type Usage } from '@/chat/usage'
import type { JsonObject, JsonValue } from '@/lib/json'
import type { Answer, Case, Cell, PairKey, PairNote, Seen, SeenUsage } from './types'

/** The upstream's own name of every model of the matrix. */
export const UPSTREAM_MODEL = 'upstream-model'

/** The prices of every model of the matrix, in nano-USD per token. */
const PRICES = { uncached: 1_000, cacheRead: 100, cacheWrite5m: 1_250, cacheWrite1h: 2_000, output: 2_000 } as const

/** What the plain text answer says. */
const TEXT_ANSWER: Seen = {
  text: 'Hello from the model.',
  reasoning: '',
  calls: [],
  finish: 'stop',
  usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
  others: [],
  images: [],
}

/** The notes on a cell, the general ones overlaid by the exact ones. Wildcards speak of ways between formats only. */
export function noteOn({ case: { pairs = {} }, client, provider }: Cell): PairNote {
  const exact = pairs[`${client}>${provider}`]
  if (client === provider) return exact ?? {}
  const keys: PairKey[] = ['*>*', `*>${provider}`, `${client}>*`]
  const notes = [...keys.map((key) => pairs[key]), exact].filter((note) => note !== undefined)
  return notes.reduce((all, note) => overlay(all, note), {})
}

function overlay(first: PairNote, second: PairNote): PairNote {
  const lost = [first.lost, second.lost].filter((text) => text !== undefined)
  return {
    ...first,
    ...second,
    ...(lost.length > 0 && { lost: lost.join('; ') }),
    receives: { ...first.receives, ...second.receives },
    sees: { ...first.sees, ...second.sees },
  }
}

/** The body that the provider must receive where `accountId` asks. */
export function expectedBody(cell: Cell, accountId: string): JsonObject {
  const { case: declared, client, provider, mode } = cell
  const { asks, golden } = declared
  const base = client === provider ? asks[provider] : (golden?.[provider] ?? asks[provider])
  const said = provider === 'responses' && client !== provider ? (saidOutright(base) as JsonObject) : base
  const include = provider === 'responses' && { include: included(said, client === provider) }
  const { receives, receivesFor } = noteOn(cell)
  const noted = { ...receives, ...receivesFor?.(accountId) }
  const body = { ...said, ...include, ...noted, ...frame(provider, mode !== 'json') }
  return withoutAbsent(body)
}

/**
 * What a caller of the format may leave out, and a translation says: how strictly a schema is to be followed, which is as far as
 * possible here and loosely everywhere else, how closely to look at an image, and that a text is the model's own.
 */
function saidOutright(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => saidOutright(item) as JsonValue)
  if (typeof value !== 'object' || value === null) return value
  const said = Object.entries(value).map(([name, item]) => [
    name,
    name === 'parameters' || name === 'schema' ? item : saidOutright(item),
  ])
  const object: JsonObject = Object.fromEntries(said)
  if ((object.type === 'function' && object.parameters) || object.type === 'json_schema')
    return { strict: false, ...object }
  if (object.role === 'assistant' && typeof object.content === 'string') {
    return { ...object, content: [{ type: 'output_text', text: object.content }] }
  }
  return object.type === 'input_image' ? { detail: 'auto', ...object } : object
}

/** Nothing is kept at a provider, so its reasoning has to travel with the conversation; who asks for more says so first. */
function included({ include }: JsonObject = {}, isAsked: boolean): JsonValue {
  const more = Array.isArray(include) ? include : []
  const encrypted = 'reasoning.encrypted_content'
  return isAsked ? [...more, encrypted] : [encrypted, ...more]
}

function frame(provider: FormatName, isStream: boolean): JsonObject {
  switch (provider) {
    case 'chat-completions':
      return {
        model: UPSTREAM_MODEL,
        ...(isStream && { stream: true, stream_options: { include_usage: true } }),
      }
    case 'messages':
      return { model: UPSTREAM_MODEL, ...(isStream && { stream: true }) }
    case 'generate-content':
      return {}
    case 'responses':
      return { model: UPSTREAM_MODEL, store: false, ...(isStream && { stream: true }) }
  }
}

function withoutAbsent(body: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** How the cell's provider answers. */
export function answerOf({ answer }: Case, provider: FormatName): Answer {
  return 'fixture' in answer ? answer : answer[provider]
}

/** What the client must see. */
export function expectedSeen(cell: Cell): Seen {
  const { case: declared, client, provider } = cell
  const { usage } = answerOf(declared, provider)
  const seen = { ...TEXT_ANSWER, ...declared.sees, ...noteOn(cell).sees }
  const told = { ...seen, usage: noteOn(cell).sees?.usage ?? seenUsage(usage ?? undefined) }
  // Only generate-content has no word for tokens written to a cache.
  if (client === 'generate-content') told.usage = { ...told.usage, cacheWrite: undefined }
  return told
}

function seenUsage(usage: Usage | undefined): SeenUsage {
  if (!usage) return TEXT_ANSWER.usage
  return {
    input: inputTokens(usage),
    cacheRead: usage.cacheRead,
    cacheWrite: usage.cacheWrite5m + usage.cacheWrite1h,
    output: usage.output,
    reasoning: usage.reasoning,
  }
}

/** What `usage` costs at the matrix's prices, in nano-USD: reckoned apart from the gateway's own code. */
export function costOf(usage: Usage): number {
  const classes = Object.keys(PRICES) as (keyof typeof PRICES)[]
  return classes.reduce((sum, name) => sum + usage[name] * PRICES[name], 0)
}

/** The status under which a client is told of an error: the messages format has a status of its own for overloads. */
export function statusFor(client: FormatName, status: number): number {
  return client === 'messages' && status === 503 ? 529 : status
}

/** Every place where `actual` is not as expected, one line each, such as `tools[0].name: "a", not "b"`. */
export function differences(expected: unknown, actual: unknown, path = ''): string[] {
  if (Bun.deepEquals(expected, actual, true)) return []
  if (isPlain(expected) && isPlain(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
    return keys.flatMap((key) => differences(expected[key], actual[key], path === '' ? key : `${path}.${key}`))
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((item, index) => differences(item, actual[index], `${path}[${index}]`))
  }
  return [`${path}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`]
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
