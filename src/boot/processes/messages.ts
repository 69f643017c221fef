/** Messages between a supervisor and its server processes, over their IPC channel. */

/** Process to supervisor. Snapshots are texts of `PrometheusMetrics.snapshot`. */
export type FromProcess =
  | { type: 'serves' }
  /** Prometheus scraped this process, which needs the metrics of all. The reply is an `exposition` with the same `question`. */
  | { type: 'expose'; question: number }
  /** The process's metrics, when requested or when it ends. */
  | { type: 'counted'; snapshot: string }

export type ToProcess =
  /** The reply to `count` is a `counted`. */
  { type: 'count' } | { type: 'exposition'; question: number; text: string }
