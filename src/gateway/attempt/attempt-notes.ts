/** Log lines of an attempt about its request and answer. */
import type { CountsInDoubt } from '@/dialects/dialect'
import { showFields } from '@/formats/body-fields'
import type { Logger } from '@/lib/logger'

/** Logs the request's fields that are not sent to the target, if any. */
export function noteLeftOut(logger: Logger, requestId: string, fields: readonly string[]): void {
  if (fields.length > 0) logger.info('request_fields_left_out', { requestId, fields: showFields(fields) })
}

/** Logs that the cloud's token counts differ from those in the answer. The charge uses those in the answer. */
export function noteDoubts(logger: Logger, requestId: string, provider: string) {
  return (counts: CountsInDoubt) => logger.warn('provider_counts_differ', { requestId, provider, ...counts })
}
