/** Converts a Bedrock stream to a messages stream; a fault becomes a final error event. */
import type { AnswerReading } from '@/dialects/dialect'
import { isJsonObject, type JsonObject, parseJson, textOf } from '@/lib/json'
import { formatSse } from '@/lib/streams/sse'
import { createEventStreamParser, type EventMessage } from './event-stream'

export type MessageReader = {
  /** The text of the events for one frame of the given kind. */
  event(kind: string, payload: JsonObject): string
  end(): string
}

const EVENT_STREAM = 'application/vnd.amazon.eventstream'
/** The messages error type of each exception; other exceptions are the provider's own faults. */
const ERROR_TYPES: ReadonlyMap<string, string> = new Map([
  ['throttling', 'rate_limit_error'],
  ['servicequotaexceeded', 'rate_limit_error'],
  ['validation', 'invalid_request_error'],
  ['accessdenied', 'permission_error'],
  ['resourcenotfound', 'not_found_error'],
  ['modeltimeout', 'timeout_error'],
  ['modelnotready', 'overloaded_error'],
  ['serviceunavailable', 'overloaded_error'],
])

const decoder = new TextDecoder()

/** Whether a response is an AWS event stream. A proxy in front of Bedrock may have replaced it. */
export function isEventStream(headers: Headers): boolean {
  return (headers.get('content-type') ?? '').includes(EVENT_STREAM)
}

/** Reads a stream's frames with `reader`. */
export function streamReading(reader: MessageReader): AnswerReading {
  const parser = createEventStreamParser()
  let isOver = false

  function read({ headers, payload }: EventMessage): string {
    const json = parseJson(decoder.decode(payload))
    const fields = isJsonObject(json) ? json : {}
    const exception = headers.get(':exception-type') ?? headers.get(':error-code')
    if (exception === undefined) return reader.event(headers.get(':event-type') ?? '', fields)
    isOver = true
    return errorEvent(exception, textOf(fields.message) ?? headers.get(':error-message') ?? '')
  }

  return {
    kind: 'stream',
    push(bytes) {
      if (isOver) return ''
      let text = ''
      for (const message of parser.push(bytes)) if (!isOver) text += read(message)
      const fault = parser.fault()
      if (fault === undefined || isOver) return text
      isOver = true
      return text + errorEvent('', `event stream: ${fault}`)
    },
    end() {
      if (isOver) return ''
      isOver = true
      return parser.isOpen() ? errorEvent('', 'event stream: cut in the middle of a message') : reader.end()
    },
  }
}

/** One messages event. */
export function eventOf(data: JsonObject & { type: string }): string {
  return formatSse({ event: data.type, data: JSON.stringify(data) })
}

function errorEvent(exception: string, message: string): string {
  const type = ERROR_TYPES.get(exception.replace(/Exception$/, '').toLowerCase()) ?? 'api_error'
  return eventOf({ type: 'error', error: { type, message } })
}
