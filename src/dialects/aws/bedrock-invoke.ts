/** Claude at Bedrock by InvokeModel: the body of messages without its model, the version and betas in it, events in frames. */
import type { DialectKind, DialectSettings } from '@/dialects/dialect'
import { isJsonObject, type JsonObject, parseJson, textOf } from '@/lib/json'
import { formatSse } from '@/lib/streams/sse'
import { BETA_HEADER, takenBetas } from './bedrock-betas'
import { decodeBedrockError, modelUrl, VERSIONS } from './bedrock-endpoint'
import { eventOf, isEventStream, type MessageReader, streamReading } from './bedrock-stream'
import { refuseAddresses, withoutHints } from './messages-body'

const VERSION = 'bedrock-2023-05-31'
/** The fields of messages that Bedrock knows; it refuses all others. */
const FIELDS = [
  ...['messages', 'system', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'tools', 'tool_choice'],
  ...['thinking', 'output_config', 'context_management', 'metadata'],
]
/** Said in other words: in the path. */
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
      envelope: (body, headers) => envelope(body, headers, settings),
      protocolHeaders: () => ({}),
      readAnswer: (headers) => (isEventStream(headers) ? streamReading(invokeReader()) : undefined),
      decodeError: decodeBedrockError,
    }
  },
}

function envelope(body: JsonObject, headers: Readonly<Record<string, string>>, settings: DialectSettings) {
  refuseAddresses(body)
  const known = new Set([...FIELDS, ...(settings.passFields ?? [])])
  const { betas, leftOut } = takenBetas(headers[BETA_HEADER], settings.betas)
  const sealed: JsonObject = { anthropic_version: settings.apiVersion ?? VERSION }
  for (const [field, value] of Object.entries(body)) {
    if (known.has(field)) sealed[field] = value
    else if (!SAID.includes(field)) leftOut.push(field)
  }
  const { plain, isEager } = withoutHints(sealed)
  const all = new Set([...betas, ...(isEager ? ['fine-grained-tool-streaming-2025-05-14'] : [])])
  return { body: { ...plain, ...(all.size > 0 && { anthropic_beta: [...all] }) }, leftOut }
}

/** Each message holds one event of messages, as text; the last has what Bedrock measured, which is nobody else's business. */
function invokeReader(): MessageReader {
  return {
    event(kind, { bytes }) {
      if (kind !== 'chunk' || typeof bytes !== 'string') return ''
      const data = Buffer.from(bytes, 'base64').toString()
      const json = parseJson(data)
      const type = isJsonObject(json) ? textOf(json.type) : undefined
      if (!isJsonObject(json) || type === undefined) return ''
      if (json[METRICS] === undefined) return formatSse({ event: type, data })
      const { [METRICS]: _, ...rest } = json
      return eventOf({ ...rest, type })
    },
    end: () => '',
  }
}
