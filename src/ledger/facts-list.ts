/** A usage record's facts (`usage-record.ts`) as a list, a quarter as long as the object. Redis keeps it until Postgres has the record. */
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

/** The names of the facts, in their order in the list. */
const NAMES = [
  'requestId', // null if it is the hold's id
  'model',
  'requestedModel', // null if it equals `model`
  'provider',
  'upstreamModel',
  'clientFormat',
  'providerFormat', // null if it equals `clientFormat`
  'rule',
  'flags',
  'stream',
  'status',
  'attempts',
  'routeReason',
  'startedAtMs',
  'firstTokenMs',
  'durationMs',
  'providerCost',
] as const
const USAGE_NAMES = ['uncached', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'output', 'reasoning'] as const
/** Facts that may be missing (null). */
const OPTIONAL: ReadonlySet<string> = new Set(['routeReason', 'providerCost'])

type Facts = Record<(typeof NAMES)[number], unknown> & {
  usage: Record<(typeof USAGE_NAMES)[number], unknown> & { units?: unknown }
}
type GivenFacts = Omit<Facts, 'routeReason' | 'providerCost'> & Partial<Facts>

const LISTED: ReadonlySet<string> = new Set([...NAMES, 'usage'])

/** Writes facts as a list: the values of {@link NAMES}, the token counts, and an object with the remaining facts and units, if any. */
export function listText(facts: GivenFacts, holdId: string): string {
  const list: unknown[] = NAMES.map((name) => (isSaid(name, facts, holdId) ? null : facts[name]))
  list.push(USAGE_NAMES.map((name) => facts.usage[name]))
  const given: Record<string, unknown> = facts
  let more: Record<string, unknown> | undefined
  for (const name in given) {
    if (given[name] === undefined || LISTED.has(name)) continue
    more ??= {}
    more[name] = given[name]
  }
  if (facts.usage.units !== undefined) {
    more ??= {}
    more.units = facts.usage.units
  }
  if (more) list.push(more)
  return JSON.stringify(list)
}

/** Whether other facts already imply this fact. */
function isSaid(name: (typeof NAMES)[number], facts: GivenFacts, holdId: string): boolean {
  if (name === 'requestId') return facts.requestId === holdId
  if (name === 'requestedModel') return facts.requestedModel === facts.model
  return name === 'providerFormat' && facts.providerFormat === facts.clientFormat
}

/** Parses a list of facts. Undefined if invalid. */
export function readFacts(text: string, holdId: string): JsonObject | undefined {
  const list = parseJson(text)
  if (!Array.isArray(list)) return undefined
  const counts = list[NAMES.length]
  const rest = list[NAMES.length + 1] ?? {}
  if (!Array.isArray(counts) || !isJsonObject(rest)) return undefined
  const { units, ...more } = rest
  const facts: JsonObject = {}
  for (const [index, name] of NAMES.entries()) {
    const value = list[index]
    if (value !== null || !OPTIONAL.has(name)) facts[name] = value
  }
  facts.requestId ??= holdId
  facts.requestedModel ??= facts.model
  facts.providerFormat ??= facts.clientFormat
  facts.usage = Object.fromEntries(USAGE_NAMES.map((name, index) => [name, counts[index]]))
  if (units !== undefined) facts.usage.units = units
  return Object.assign(facts, more)
}
