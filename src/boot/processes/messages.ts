/** What a supervisor and its server processes say to each other, over the channel that a process is started with. */

/** From a process to its supervisor. Snapshots are texts of `PrometheusMetrics.snapshot`. */
export type FromProcess =
  | { type: 'serves' }
  /** A scrape asks this process for the metrics of all: wants an `exposition` with the same number. */
  | { type: 'expose'; question: number }
  /** The process's counts, on request or at its end. */
  | { type: 'counted'; snapshot: string }

/** From a supervisor to one of its processes. */
export type ToProcess =
  /** Wants a `counted`. */
  { type: 'count' } | { type: 'exposition'; question: number; text: string }
