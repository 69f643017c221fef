/** What the scripted provider would charge us: an append-only list that it keeps by itself, and that nobody may correct. */

/** One line: the tokens of one class that one call was served. `call` counts the provider's calls from zero. */
type BillLine = Readonly<{
  call: number
  marker: string
  kind: 'input' | 'output'
  tokens: number
  atMs: number
}>

/** Everything that was billed for one request, over all the calls made for it. */
export type BilledRequest = {
  marker: string
  calls: number
  input: number
  output: number
  firstAtMs: number
  /** When output was billed, and how many tokens. */
  outputs: { atMs: number; tokens: number }[]
}

export interface Bill {
  append(call: number, marker: string, kind: BillLine['kind'], tokens: number): void
  /** What has been billed since `sinceMs` (milliseconds since 1970), by the request's marker. */
  requests(sinceMs: number): Map<string, BilledRequest>
}

/** Opens an empty bill. */
export function createBill(): Bill {
  const lines: BillLine[] = []
  return {
    append(call, marker, kind, tokens) {
      lines.push(Object.freeze({ call, marker, kind, tokens, atMs: Date.now() }))
    },
    requests(sinceMs) {
      const requests = new Map<string, BilledRequest & { seen: Set<number> }>()
      for (const line of lines) {
        if (line.atMs < sinceMs) continue
        const { marker, atMs } = line
        const request = requests.get(marker) ?? {
          ...{ marker, calls: 0, input: 0, output: 0, firstAtMs: atMs, outputs: [] },
          seen: new Set<number>(),
        }
        request[line.kind] += line.tokens
        if (line.kind === 'output') request.outputs.push({ atMs, tokens: line.tokens })
        request.seen.add(line.call)
        request.calls = request.seen.size
        requests.set(marker, request)
      }
      return requests
    },
  }
}
