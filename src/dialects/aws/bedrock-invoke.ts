/** Claude at Bedrock through InvokeModel: a messages body without the model but with version and betas; events come in binary frames. */
import { readCount } from '@/chat/usage'
import { betaNamesOf, headerBetas } from '@/dialects/betas'
import type { CountsInDoubt, DialectKind, DialectSettings } from '@/dialects/dialect'
import { isJsonObject, type JsonObject, type JsonValue, parseJson, textOf } from '@/lib/json'
import { formatSse } from '@/lib/streams/sse'
import { decodeBedrockError, modelUrl, VERSIONS } from './bedrock-endpoint'
import { eventOf, isEventStream, type MessageReader, streamReading } from './bedrock-stream'
import { refuseAddresses, withoutHints } from './messages-body'

const VERSION = 'bedrock-2023-05-31'
const FIELDS = [
  ...['messages', 'system', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'tools', 'tool_choice'],
  ...['thinking', 'output_config', 'context_management', 'metadata'],
]
const SAID = ['model', 'stream']
const METRICS = 'amazon-bedrock-invocationMetrics'

export const bedrockInvoke: DialectKind = {
  formats: ['messages'],
  needsVersion: false,
  create(_, { headers: __, ...endpoint }, settings) {
    return {
      ...endpoint,
      name: 'bedrock-invoke',
      versions: VERSIONS,
      credential: { header: 'authorization', prefix: 'Bearer ' },
      headers: { accept: 'application/json' },
      url: (call) => modelUrl(call, call.stream ? 'invoke-with-response-stream' : 'invoke'),
      takenBeta: betaNamesOf('bedrock'),
      envelope: (body, headers) => envelope(body, headers, settings),
      protocolHeaders: () => ({}),
      readAnswer: (headers, doubted) => (isEventStream(headers) ? streamReading(invokeReader(doubted)) : undefined),
      decodeError: decodeBedrockError,
    }
  },
}

function envelope(body: JsonObject, headers: Readonly<Record<string, string>>, settings: DialectSettings) {
  refuseAddresses(body)
  const known = new Set([...FIELDS, ...(settings.passFields ?? [])])
  const leftOut: string[] = []
  const sealed: JsonObject = { anthropic_version: settings.apiVersion ?? VERSION }
  for (const [field, value] of Object.entries(body)) {
    if (known.has(field)) sealed[field] = value
    else if (!SAID.includes(field)) leftOut.push(field)
  }
  const { plain, isEager } = withoutHints(sealed)
  const all = new Set([...headerBetas(headers), ...(isEager ? ['fine-grained-tool-streaming-2025-05-14'] : [])])
  return { body: { ...plain, ...(all.size > 0 && { anthropic_beta: [...all] }) }, leftOut }
}

/** Bedrock's metrics and the usage fields of messages they correspond to. Both exclude cached tokens from the input. */
const MEASURES = {
  inputTokenCount: 'input_tokens',
  outputTokenCount: 'output_tokens',
  cacheReadInputTokenCount: 'cache_read_input_tokens',
  cacheWriteInputTokenCount: 'cache_creation_input_tokens',
}

/** Reads frames with one messages event each. Bedrock's counts in the last event are used only if the model reported no usage. */
function invokeReader(doubted?: (counts: CountsInDoubt) => void): MessageReader {
  let told: JsonObject = {}
  let ending: JsonObject | undefined

  function note({ type, message, delta, usage }: JsonObject): void {
    if (type === 'message_start' && isJsonObject(message) && isJsonObject(message.usage)) told = message.usage
    if (type !== 'message_delta') return
    ending = { ...ending, delta: delta ?? {}, ...(isJsonObject(usage) && { usage }) }
    told = { ...told, ...(isJsonObject(usage) && usage) }
  }

  /** Compares both counts. Returns a last event with Bedrock's counts if the model reported none. */
  function compare(metrics: JsonValue | undefined): string {
    const fields = isJsonObject(metrics) ? metrics : {}
    const measured: JsonObject = {}
    for (const [theirs, ours] of Object.entries(MEASURES)) {
      const count = readCount(fields[theirs])
      if (count !== undefined) measured[ours] = count
    }
    if (measured.output_tokens === undefined) return ''
    if (ending?.usage === undefined) {
      const delta = ending?.delta ?? { stop_reason: 'end_turn', stop_sequence: null }
      return eventOf({ type: 'message_delta', delta, usage: measured })
    }
    const differs = Object.entries(measured).some(([name, count]) => (told[name] ?? 0) !== count)
    if (differs)
      doubted?.({ told: Object.fromEntries(Object.keys(measured).map((name) => [name, told[name] ?? 0])), measured })
    return ''
  }

  return {
    event(kind, { bytes }) {
      if (kind !== 'chunk' || typeof bytes !== 'string') return ''
      const data = Buffer.from(bytes, 'base64').toString()
      const json = parseJson(data)
      const type = isJsonObject(json) ? textOf(json.type) : undefined
      if (!isJsonObject(json) || type === undefined) return ''
      note(json)
      if (json[METRICS] === undefined) return formatSse({ event: type, data })
      const { [METRICS]: metrics, ...rest } = json
      return compare(metrics) + eventOf({ ...rest, type })
    },
    end: () => '',
  }
}
