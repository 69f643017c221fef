/** What the load process is asked to do, and what it says of it: plain data, one line of JSON each way. */

/** The wire formats, by the names that the gateway gives them. */
export type WireFormat = 'chat-completions' | 'messages' | 'generate-content' | 'responses'

/** One request, to be sent again and again with one key after another. */
export type Shot = {
  port: number
  path: string
  headers: Record<string, string>
  /** The header that carries a key, and what stands before the key in it; none where `keys` is empty. */
  keyHeader?: { name: string; prefix: string }
  keys: readonly string[]
  format: WireFormat
  model: string
  stream: boolean
  /** Pieces of a whole stream: one that ends with fewer was cut, and is a failure. */
  pieces: number
  /** Size of the text that the request carries. */
  promptBytes: number
}

export type Job =
  /** Each connection sends its next request when the last is answered. Streams start spread over `rampMs`. */
  | { kind: 'closed'; shot: Shot; connections: number; durationMs: number; rampMs: number }
  /** Requests leave on a schedule that no slow answer delays; their time counts from then. */
  | { kind: 'open'; shot: Shot; ratePerSecond: number; durationMs: number }
  /** Opens `connections` streams within `rampMs` and reads all of them for `durationMs` more. */
  | { kind: 'held'; shot: Shot; connections: number; rampMs: number; durationMs: number }
  /** Opens `connections` streams whose clients read the first bytes and then nothing more for `durationMs`. */
  | { kind: 'stopped'; shot: Shot; connections: number; durationMs: number }
  /** Each key once, over so many connections. */
  | { kind: 'once'; shot: Shot; connections: number; timeoutMs: number }

/** Milliseconds, of which so many lie below. */
export type Percentiles = { p50: number; p90: number; p99: number; worst: number }

export type JobResult = {
  seconds: number
  /** Answers that were complete and of status 200. */
  answered: number
  /** All others, by status, or by what went wrong with the connection. */
  failures: Record<string, number>
  /** From the first byte of a request (or its due time) to the last of its answer. */
  latency: Percentiles
  /** To the first text of a stream. */
  firstToken: Percentiles
  /** Pieces of streams that arrived, and how long each was on its way. */
  chunks: number
  chunkDelay: Percentiles
}

/** A line that the load process writes: `held` while the streams of such a job (or of a `stopped` one) are all open, then the result. */
export type Report = { kind: 'held'; open: number } | { kind: 'done'; result: JobResult }
