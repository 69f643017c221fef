/** Writes the id of a request's trace into each line of the log that names the request. */
import type { LogFields, Logger } from '@/lib/logger'
import type { Tracing } from './tracing'

/** The logger with that. */
export function tracedLogger(logger: Logger, tracing: Pick<Tracing, 'traceIdOf'>): Logger {
  function traceIdOf(fields: Readonly<Record<string, unknown>> | undefined): string | undefined {
    return typeof fields?.requestId === 'string' ? tracing.traceIdOf(fields.requestId) : undefined
  }
  function at(level: 'debug' | 'info' | 'warn' | 'error') {
    return (event: string, fields?: LogFields): void => {
      const traceId = traceIdOf(fields)
      logger[level](event, traceId === undefined ? fields : { ...fields, trace_id: traceId })
    }
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    infoOwn(event, own, foreign) {
      const traceId = traceIdOf(own)
      logger.infoOwn(event, traceId === undefined ? own : { ...own, trace_id: traceId }, foreign)
    },
  }
}
