/** Reads HTTP/1.1 requests with a Content-Length off a socket: all that the gateway's client sends. */

export type RawRequest = { path: string; headers: ReadonlyMap<string, string>; bodyText: string }

const HEAD_END = Buffer.from('\r\n\r\n')

/** Creates the reader of one connection; `push` returns the requests that are complete. */
export function createRequestReader(): { push(bytes: Uint8Array): RawRequest[] } {
  let buffer = Buffer.alloc(0)

  function take(): RawRequest | undefined {
    const end = buffer.indexOf(HEAD_END)
    if (end === -1) return undefined
    const [requestLine = '', ...lines] = buffer.subarray(0, end).toString('latin1').split('\r\n')
    const headers = new Map(lines.map(splitHeader))
    const bodyStart = end + HEAD_END.length
    const bodyEnd = bodyStart + Number(headers.get('content-length') ?? 0)
    if (buffer.length < bodyEnd) return undefined
    const bodyText = buffer.subarray(bodyStart, bodyEnd).toString('utf8')
    buffer = buffer.subarray(bodyEnd)
    return { path: requestLine.split(' ')[1] ?? '/', headers, bodyText }
  }

  return {
    push(bytes) {
      buffer = Buffer.concat([buffer, bytes])
      const requests: RawRequest[] = []
      for (let request = take(); request; request = take()) requests.push(request)
      return requests
    },
  }
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
