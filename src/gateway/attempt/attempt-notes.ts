/** Log lines that an attempt writes about its request and its answer. */
import type { CountsInDoubt } from '@/dialects/dialect'
import { showFields } from '@/formats/body-fields'
import type { Logger } from '@/lib/logger'

/** Fields that the target is not told; a line only where there are any. */
export function noteLeftOut(logger: Logger, requestId: string, fields: readonly string[]): void {
  if (fields.length > 0) logger.info('request_fields_left_out', { requestId, fields: showFields(fields) })
}

/** Logs that the cloud counts differently. The charge stays as the answer states it. */
export function noteDoubts(logger: Logger, requestId: string, provider: string) {
  return (counts: CountsInDoubt) => logger.warn('provider_counts_differ', { requestId, provider, ...counts })
}
