/** Settings for the export by OpenTelemetry: signals, addresses and limits. */

/** The address and limits for one kind of data. */
export type ExportSettings = {
  url: string
  protocol: (typeof PROTOCOLS)[number]
  headers: Record<string, string>
  /** Milliseconds for one export, including retries. */
  timeoutMs: number
  isCompressed: boolean
}

export type TraceSettings = {
  sampler: (typeof SAMPLERS)[number]
  /** 0 to 1; only for samplers by ratio. */
  ratio: number
  /** Maximum characters of one attribute; undefined: no limit. */
  maxAttributeChars: number | undefined
  /** The maximum number of spans that wait and of spans per export; times in milliseconds. */
  batch: { delayMs: number; timeoutMs: number; maxQueue: number; maxBatch: number }
}

export type TelemetrySettings = {
  /** Undefined: the product's default service name. */
  serviceName: string | undefined
  /** Additional attributes of the process, by their OpenTelemetry names. */
  resource: Record<string, string>
  /** Undefined: no spans are made. */
  traces: (ExportSettings & TraceSettings) | undefined
  /** Undefined: no metrics are exported. The interval and time limit of exports are in milliseconds. */
  metrics: (ExportSettings & { intervalMs: number; exportTimeoutMs: number }) | undefined
  /** Whether prompts and answers are written into spans. */
  capturesContent: boolean
  /** Whether a caller's trace is continued. */
  continuesTraces: boolean
  /** The trace headers for providers: none, the id, or also the caller's `tracestate`. */
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
