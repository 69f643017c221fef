/** Settings for the export by OpenTelemetry: signals, addresses and amounts. */

/** The address and limits for one kind of data. */
export type ExportSettings = {
  url: string
  protocol: (typeof PROTOCOLS)[number]
  /** Sent with every export; may hold secrets. */
  headers: Record<string, string>
  /** Milliseconds for one export, its repeats included. */
  timeoutMs: number
  isCompressed: boolean
}

export type TraceSettings = {
  sampler: (typeof SAMPLERS)[number]
  /** 0 to 1; only for samplers by ratio. */
  ratio: number
  /** Characters of one attribute; undefined: as long as it is. */
  maxAttributeChars: number | undefined
  /** Spans that wait for an export and that one export takes; milliseconds. */
  batch: { delayMs: number; timeoutMs: number; maxQueue: number; maxBatch: number }
}

export type TelemetrySettings = {
  /** Undefined: the product's own name of the service. */
  serviceName: string | undefined
  /** Further attributes of the process, by the names of the conventions. */
  resource: Record<string, string>
  /** Undefined: no spans are made. */
  traces: (ExportSettings & TraceSettings) | undefined
  /** Undefined: no metrics are exported. Milliseconds between exports, and for one. */
  metrics: (ExportSettings & { intervalMs: number; exportTimeoutMs: number }) | undefined
  /** Whether what was said is written into spans. */
  capturesContent: boolean
  /** Whether a caller's trace is continued. */
  continuesTraces: boolean
  /** The trace headers for providers: none, the id, or the caller's `tracestate` as well. */
  toProviders: (typeof TO_PROVIDERS)[number]
}

export const PROTOCOLS = ['http/protobuf', 'http/json'] as const
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export const TO_PROVIDERS = ['none', 'traceparent', 'tracestate'] as const
