/** Reads HTTP/1.1 requests off a socket as far as the mock upstream has to: what is asked for, and where the request ends. */
import type { WireFormat } from '@bench/load/job'

/** What is asked for. `model` says how to answer. */
type Asked = { format: WireFormat; model: string; stream: boolean }

export interface RequestReader {
  /** Takes what came; says what is asked for once the request is whole. */
  push(bytes: Buffer): Asked | undefined
}

const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = '0\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
/** The name of the model stands near one of the ends of a body, however long the prompt between them is. */
const SEARCHED_BYTES = 4096
const MODEL = /"model" ?: ?"([^"]+)"/
const STREAM = /"stream" ?: ?true/

/** Creates the reader of one connection. */
export function createRequestReader(): RequestReader {
  let pending: Buffer[] = []
  let pendingBytes = 0
  /** Of the request that is being read: bytes in all, or undefined where its body comes in chunks. */
  let total: number | undefined
  let path: string | undefined
  let headBytes = 0

  function readHead(bytes: Buffer): boolean {
    const end = bytes.indexOf(HEAD_END)
    if (end === -1) return false
    const head = bytes.toString('latin1', 0, end)
    path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/1.1'))
    headBytes = end + HEAD_END.length
    const length = CONTENT_LENGTH.exec(head)?.[1]
    const hasChunks = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
    total = hasChunks ? undefined : headBytes + Number(length ?? 0)
    return true
  }

  function isWhole(last: Buffer): boolean {
    if (total !== undefined) return pendingBytes >= total
    return last.subarray(-LAST_CHUNK.length).toString('latin1') === LAST_CHUNK
  }

  function take(): Asked {
    const all = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending)
    const asked = readAsked(path ?? '', all.subarray(headBytes))
    pending = []
    pendingBytes = 0
    path = undefined
    return asked
  }

  return {
    push(bytes) {
      // The socket's buffer is used again once this call returns.
      const isAlone = pending.length === 0
      pending.push(bytes)
      pendingBytes += bytes.length
      if (path === undefined) {
        if (!isAlone) pending = [Buffer.concat(pending)]
        readHead(pending[0] as Buffer)
      }
      if (path !== undefined && isWhole(bytes)) return take()
      pending[pending.length - 1] = Buffer.from(pending.at(-1) as Buffer)
      return undefined
    },
  }
}

/** What a path and a body ask for. */
export function readAsked(path: string, body: Buffer): Asked {
  const named = /\/models\/([^:/]+):(\w+)/.exec(path)
  if (named) {
    return { format: 'generate-content', model: named[1] ?? '', stream: named[2] === 'streamGenerateContent' }
  }
  const format = formatOf(path)
  const text =
    body.length <= 2 * SEARCHED_BYTES
      ? body.toString('latin1')
      : body.toString('latin1', 0, SEARCHED_BYTES) + body.toString('latin1', body.length - SEARCHED_BYTES)
  return { format, model: MODEL.exec(text)?.[1] ?? '', stream: STREAM.test(text) }
}

function formatOf(path: string): WireFormat {
  if (path.includes('/messages')) return 'messages'
  return path.includes('/responses') ? 'responses' : 'chat-completions'
}
