/** Parses AWS event streams: binary messages with a length and two checksums. Takes linear time, however the bytes are split. */
import { crc32 } from 'node:zlib'

/** One message; `headers` contains only the text headers. */
export type EventMessage = { headers: ReadonlyMap<string, string>; payload: Uint8Array }

interface EventStreamParser {
  push(bytes: Uint8Array): EventMessage[]
  fault(): string | undefined
  isOpen(): boolean
}

class EventStreamError extends Error {
  override readonly name = 'EventStreamError'
}

/** Lengths of message and headers, and a checksum of both. */
const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
/** The longest accepted message; a longer one is refused before it is buffered. */
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024
/** Lengths of header values by type; -1: the value begins with its length. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16]
const TEXT = 7

const decoder = new TextDecoder()

export function createEventStreamParser(): EventStreamParser {
  let parts: Uint8Array[] = []
  let size = 0
  let wanted = PRELUDE_BYTES
  let fault: string | undefined

  /** Adds the complete messages of `buffer` to `messages`; returns the index of the incomplete rest. */
  function readAll(buffer: Uint8Array, messages: EventMessage[]): number {
    let start = 0
    wanted = PRELUDE_BYTES
    while (buffer.length - start >= PRELUDE_BYTES) {
      const total = messageBytes(buffer.subarray(start, start + PRELUDE_BYTES))
      if (buffer.length - start < total) {
        wanted = total
        break
      }
      messages.push(readMessage(buffer.subarray(start, start + total)))
      start += total
    }
    return start
  }

  return {
    push(bytes) {
      const messages: EventMessage[] = []
      if (fault !== undefined) return messages
      if (bytes.length > 0) parts.push(bytes)
      size += bytes.length
      if (size < wanted) return messages
      const [first = bytes] = parts
      const buffer = parts.length === 1 ? first : Buffer.concat(parts, size)
      let start = buffer.length
      try {
        start = readAll(buffer, messages)
      } catch (error) {
        if (!(error instanceof EventStreamError)) throw error
        fault = error.message
      }
      parts = start < buffer.length ? [buffer.subarray(start)] : []
      size = buffer.length - start
      return messages
    },
    fault: () => fault,
    isOpen: () => size > 0,
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function messageBytes(prelude: Uint8Array): number {
  const view = viewOf(prelude)
  const total = view.getUint32(0)
  if (crc32(prelude.subarray(0, 8)) !== view.getUint32(8)) throw new EventStreamError('the lengths were changed')
  const least = PRELUDE_BYTES + view.getUint32(4) + CHECKSUM_BYTES
  if (total < least || total > MAX_MESSAGE_BYTES) throw new EventStreamError('the lengths cannot be')
  return total
}

function readMessage(message: Uint8Array): EventMessage {
  const view = viewOf(message)
  const end = message.length - CHECKSUM_BYTES
  if (crc32(message.subarray(0, end)) !== view.getUint32(end)) throw new EventStreamError('a message was changed')
  const payloadStart = PRELUDE_BYTES + view.getUint32(4)
  return { headers: readHeaders(message, payloadStart), payload: message.subarray(payloadStart, end) }
}

function readHeaders(message: Uint8Array, end: number): ReadonlyMap<string, string> {
  const view = viewOf(message)
  const headers = new Map<string, string>()
  let at = PRELUDE_BYTES
  try {
    while (at < end) {
      const nameEnd = at + 1 + view.getUint8(at)
      const name = decoder.decode(message.subarray(at + 1, nameEnd))
      const type = view.getUint8(nameEnd)
      const fixed = VALUE_BYTES[type] ?? Number.NaN
      const start = nameEnd + 1 + (fixed === -1 ? 2 : 0)
      at = start + (fixed === -1 ? view.getUint16(nameEnd + 1) : fixed)
      if (!(at <= end)) break
      if (type === TEXT) headers.set(name, decoder.decode(message.subarray(start, at)))
    }
  } catch {
    // A header's length reaches beyond the end of the message.
    at = Number.NaN
  }
  if (at !== end) throw new EventStreamError('the headers cannot be')
  return headers
}
