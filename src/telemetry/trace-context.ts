import { type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api'
import { TRACE_STATE_HEADER, W3CTraceContextPropagator } from '@opentelemetry/core'
import type { TelemetrySettings } from '@/lib/telemetry-settings'

export interface TraceContext {
  /** The context in a caller's headers; empty if malformed or tracing is off. */
  of(request: Request): Context
  /** The headers for a provider; undefined if it gets none. */
  for(span: Span): Record<string, string> | undefined
}

const GETTER = {
  keys: (headers: Headers) => [...headers.keys()],
  get: (headers: Headers, name: string) => headers.get(name) ?? undefined,
}
const SETTER = {
  set(headers: Record<string, string>, name: string, value: string) {
    headers[name] = value
  },
}

/** Reads the W3C trace context of callers and writes it for providers, as the settings allow; never baggage. */
export function createTraceContext(
  settings: Pick<TelemetrySettings, 'traces' | 'continuesTraces' | 'toProviders'>,
): TraceContext {
  const propagator = new W3CTraceContextPropagator()
  const tells = settings.traces !== undefined && settings.toProviders !== 'none'
  return {
    of: ({ headers }) => (settings.continuesTraces ? propagator.extract(ROOT_CONTEXT, headers, GETTER) : ROOT_CONTEXT),
    for(span) {
      if (!tells) return undefined
      const headers: Record<string, string> = {}
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, SETTER)
      if (settings.toProviders !== 'tracestate') delete headers[TRACE_STATE_HEADER]
      return headers
    },
  }
}
