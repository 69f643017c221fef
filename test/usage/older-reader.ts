/**
 * How a flusher read stream entries before hang-ups had rules of their own, written down and never changed: gateways of that
 * version may run beside ours while versions are replaced. It books what it can read, as it reads it, and buries the rest.
 */
import type { UsageRecord } from '@/ledger/usage-record'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

const RULES = [
  ...['usage', 'counted', 'cut_usage', 'cut_counted', 'broken_usage', 'broken_counted'],
  ...['disconnect_usage', 'disconnect_counted', 'expired', 'unreadable'],
]
const FLAGS = ['estimated', 'clamped', 'overrun', 'late', 'expired', 'forced']
const FORMATS = ['chat-completions', 'messages', 'generate-content', 'responses']
const KINDS = ['settle', 'expire', 'late']
const TEXTS = ['requestId', 'model', 'requestedModel', 'provider', 'upstreamModel']
const NUMBERS = ['status', 'attempts', 'startedAtMs', 'durationMs']
const TOKENS = ['uncached', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'output', 'reasoning']
const COUNTS = ['providerInput', 'providerOutput', 'localInput', 'localOutput']
const TOOL_NAME = /^[a-z_]{1,64}$/

/** The record of an entry as that version would book it; undefined where it would bury it. */
export function readAsBefore(fields: readonly string[]): UsageRecord | undefined {
  const stored = new Map<string, string>()
  for (let index = 0; index + 1 < fields.length; index += 2) stored.set(fields[index] ?? '', fields[index + 1] ?? '')
  const textOf = (name: string) => stored.get(name) ?? ''
  const numberOf = (name: string) => (/^-?\d{1,16}$/.test(textOf(name)) ? Number(textOf(name)) : Number.NaN)
  const [kind, holdId, facts] = [textOf('kind'), textOf('holdId'), parseJson(textOf('record'))]
  const [cost, held, seq, atMs] = ['cost', 'held', 'seq', 'atMs'].map(numberOf)
  const recordId = kind === 'late' ? `${holdId}:late` : holdId
  const flags = textOf('flags') === '' ? [] : textOf('flags').split(',')
  const isSound =
    KINDS.includes(kind) &&
    holdId !== '' &&
    textOf('eventId') === recordId &&
    flags.every((flag) => FLAGS.includes(flag)) &&
    [cost, held, seq, atMs].every(Number.isSafeInteger)
  if (!isSound || !isJsonObject(facts) || !areFacts(facts)) return undefined
  const payer = { accountId: textOf('accountId'), keyId: textOf('keyId') }
  return { recordId, holdId, ...payer, kind, cost, held, seq, atMs, flags, facts } as unknown as UsageRecord
}

function areFacts(facts: JsonObject): boolean {
  const { usage, flags, tools, counts, providerCost, firstTokenMs, routeReason } = facts
  return (
    TEXTS.every((name) => typeof facts[name] === 'string') &&
    NUMBERS.every((name) => Number.isFinite(facts[name])) &&
    [facts.clientFormat, facts.providerFormat].every((name) => FORMATS.includes(String(name))) &&
    isJsonObject(usage) &&
    TOKENS.every((name) => isCount(usage[name])) &&
    RULES.includes(String(facts.rule)) &&
    Array.isArray(flags) &&
    flags.every((flag) => FLAGS.includes(String(flag))) &&
    typeof facts.stream === 'boolean' &&
    (tools === undefined || (Array.isArray(tools) && tools.every(isTool))) &&
    (routeReason === undefined || typeof routeReason === 'string') &&
    (firstTokenMs === null || Number.isFinite(firstTokenMs)) &&
    (providerCost === undefined || isCount(providerCost)) &&
    (counts === undefined || areCounts(counts))
  )
}

function isTool(tool: JsonValue): boolean {
  return isJsonObject(tool) && TOOL_NAME.test(String(tool.name)) && isCount(tool.uses) && isCount(tool.cost)
}

function areCounts(counts: JsonValue): boolean {
  if (!isJsonObject(counts) || !Array.isArray(counts.gaps)) return false
  return counts.gaps.every((gap) => typeof gap === 'string') && COUNTS.every((name) => isCount(counts[name]))
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
